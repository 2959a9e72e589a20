/** Headers of an MCP server: any text, but a credential may only be named as `${VAR}`, never written down. */

/** `${VAR}` or `${VAR:-default}` anywhere in a text. */
export const embeddedTemplate = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

const space = "\\t-\\r\\x1c-\\x20\\x85\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const reference = "\\$\\{[A-Za-z_][A-Za-z0-9_]*(?::-)?\\}";
const onlyReferences = new RegExp(`^[${space}]*(?:[A-Za-z]+[${space}]+)?${reference}(?:[${space}:-]*${reference})*[${space}]*$`);
const blank = new RegExp(`^[${space}]*$`);

const sensitive = (name: string) => /KEY|SECRET|TOKEN(?!S)|PASSWORD|CREDENTIAL|AUTH/i.test(name);

/** A phrase that says what is wrong with a header, or null. */
export function headerProblem(name: string, value: string): string | null {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return "is no HTTP header name";
  if (/[\r\n]/.test(value)) return "must not hold a line end";
  const templates = [...value.matchAll(embeddedTemplate)];
  if (value.replace(embeddedTemplate, " ").includes("${") || templates.some((match) => match[2]?.includes("${"))) {
    return `has a \`\${\` that begins no \${VAR} and no \${VAR:-default}`;
  }
  const secretHeader = sensitive(name) || /^(?:set-)?cookie$/i.test(name);
  const secretDefault = templates.some((match) => match[2] && (secretHeader || sensitive(match[1] ?? "")));
  if (secretDefault || (secretHeader && !blank.test(value) && !onlyReferences.test(value))) {
    return `holds a credential; name the variable that supplies it, without a default, as in "Bearer \${TOKEN}"`;
  }
  return null;
}
