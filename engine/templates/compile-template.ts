/** From the text of a template to something that renders conversations. */
import type { ChatTemplate, Rendered, RenderOptions, TemplateContext } from "./contract.ts";
import { Evaluator } from "./evaluate.ts";
import { Executor, type GenerationSpan, Output } from "./execute.ts";
import { analyseTemplate, type UnsetNames } from "./language/frame-names.ts";
import { parseTemplate } from "./language/parse-template.ts";
import type { Statement } from "./language/syntax.ts";
import { TemplateError } from "./template-error.ts";
import { Effort } from "./values/limits.ts";
import { MarkedText, plainText, textLength } from "./values/text.ts";

/** Deep nesting in a template must not end the process: what the engine throws then becomes an error of the template. */
function bounded<T>(line: () => number | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TemplateError) throw error.line === null ? new TemplateError(error.kind, error.reason, line()) : error;
    if (error instanceof RangeError) throw new TemplateError("LimitError", `the template nests or grows too far: ${error.message}`, line());
    throw error;
  }
}

function generationSpans(text: string, generations: readonly GenerationSpan[]): Rendered["generationSpans"] {
  let [units, points] = [0, 0];
  return generations.map((generation) => {
    points += generation.start >= units ? textLength(text.slice(units, generation.start)) : -textLength(text.slice(generation.start, units));
    units = generation.start;
    return { start: points, end: points + textLength(generation.text) };
  });
}

function renderTemplate(template: readonly Statement[], unset: UnsetNames, context: TemplateContext, options: RenderOptions): Rendered {
  const evaluator = new Evaluator(context.variables, options.now, new Effort(options.limits));
  return bounded(
    () => evaluator.line,
    () => {
      const output = new Output();
      const executor = new Executor(evaluator, unset, output);
      executor.run(template);
      const text = output.text();
      const plain = plainText(text);
      return {
        text: plain,
        generationSpans: generationSpans(plain, executor.generations),
        contentSpans: text instanceof MarkedText ? text.marks : [],
      };
    },
  );
}

/** Throws `TemplateError` when the text is no template. */
export function compileTemplate(source: string): ChatTemplate {
  const { template, unset } = bounded(
    () => null,
    () => {
      const parsed = parseTemplate(source);
      return { template: parsed, unset: analyseTemplate(parsed) };
    },
  );
  return { source, render: (context, options) => renderTemplate(template, unset, context, options) };
}
