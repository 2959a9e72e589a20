/** Angles of the rotary position embedding. Sources: arXiv 2104.09864; Llama 3.1's scaling as in transformers' `modeling_rope_utils`. */
import type { Llama3Scaling, ModelConfig } from "./config.ts";

/** Angle per position of each pair: head size / 2 numbers, float64. */
export function ropeFrequencies(config: ModelConfig): Float64Array {
  const { headSize, ropeTheta, ropeScaling } = config;
  const plain = Float64Array.from({ length: headSize / 2 }, (_unused, pair) => ropeTheta ** ((-2 * pair) / headSize));
  if (ropeScaling === null) return plain;
  if (ropeScaling.kind === "divisors") return plain.map((frequency, pair) => frequency / (ropeScaling.divisors[pair] ?? 1));
  return plain.map((frequency) => scaled(frequency, ropeScaling));
}

/** High frequencies stay, low ones are divided by the factor, those between are blended. */
function scaled(frequency: number, scaling: Llama3Scaling): number {
  const waveLength = (2 * Math.PI) / frequency;
  const { factor, lowFrequencyFactor, highFrequencyFactor, originalPositions } = scaling;
  if (waveLength < originalPositions / highFrequencyFactor) return frequency;
  if (waveLength > originalPositions / lowFrequencyFactor) return frequency / factor;
  const smooth = (originalPositions / waveLength - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
  return (1 - smooth) * (frequency / factor) + smooth * frequency;
}

/** `of(position · frequency)` for each position and pair: [positions, head size / 2], row-major. */
export function ropeTable(config: ModelConfig, positions: number, of: (angle: number) => number): Float64Array {
  const frequencies = ropeFrequencies(config);
  const table = new Float64Array(positions * frequencies.length);
  for (let position = 0; position < positions; position += 1) {
    frequencies.forEach((frequency, pair) => {
      table[position * frequencies.length + pair] = of(position * frequency);
    });
  }
  return table;
}
