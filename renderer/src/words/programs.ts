/** How a program is told to send its model calls to an address. The names are those that `openforge wrap` sets. Pure. */
import type { Attachment } from "../service/views.ts";

interface Setting {
  readonly name: string;
  readonly value: string;
}

interface ProgramKind {
  readonly title: string;
  readonly settings: readonly Setting[];
}

/** `key` = null: it was told once and is no longer known. */
export function programKinds({ dialects }: Pick<Attachment, "dialects">, key: string | null): readonly ProgramKind[] {
  const secret = key ?? "KEY";
  return [
    {
      title: "OpenAI",
      settings: [
        { name: "OPENAI_BASE_URL", value: dialects.chat },
        { name: "OPENAI_API_KEY", value: secret },
      ],
    },
    {
      title: "Anthropic",
      settings: [
        { name: "ANTHROPIC_BASE_URL", value: dialects.messages },
        { name: "ANTHROPIC_AUTH_TOKEN", value: secret },
      ],
    },
    {
      title: "Gemini",
      settings: [
        { name: "GOOGLE_GEMINI_BASE_URL", value: dialects.gemini },
        { name: "GEMINI_API_KEY", value: secret },
      ],
    },
  ];
}

/** Lines for a shell. */
export const exportLines = (settings: readonly Setting[]): string => settings.map(({ name, value }) => `export ${name}=${value}`).join("\n");
