import type { WorkbenchParts } from "../context.ts";
import type { contractImplementer } from "../implementer.ts";

export function attachHandlers(os: ReturnType<typeof contractImplementer>, { attach }: WorkbenchParts) {
  return {
    start: os.attach.start.handler(({ input }) => attach.start(input)),
    list: os.attach.list.handler(() => attach.list().map((attachment) => ({ ...attachment, dialects: { ...attachment.dialects } }))),
    counts: os.attach.counts.handler(({ input }) => attach.counts(input.id)),
    stop: os.attach.stop.handler(({ input }) => attach.stop(input.id)),
    grade: os.attach.grade.handler(({ input: { id, ...verdict } }) => {
      attach.grade(id, verdict);
      return {};
    }),
    correct: os.attach.correct.handler(({ input }) => {
      attach.correct(input.call, input.text);
      return {};
    }),
  };
}
