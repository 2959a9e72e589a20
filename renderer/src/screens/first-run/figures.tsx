import { cutCall, recordedPrompts } from "./recording.ts";

/** The recording as its calls: what the policy was given above (masked), what it answered below (sampled). Heights by square root. */
export function RecordingFigure() {
  const most = Math.sqrt(Math.max(...recordedPrompts));
  return (
    <svg viewBox="0 0 432 92" width="100%" role="img" aria-label="Twelve recorded calls; the ninth reads a cut tool result">
      <defs>
        <pattern id="recording-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="1.3" height="5" fill="var(--of-hatch)" />
        </pattern>
      </defs>
      {recordedPrompts.map((prompt, index) => {
        const x = 10 + index * 35;
        const height = 12 + (Math.sqrt(prompt) / most) * 48;
        const cut = index + 1 === cutCall;
        return (
          <g key={prompt}>
            <rect x={x} y={68 - height} width="25" height={height} rx="2" fill="url(#recording-hatch)" stroke="var(--of-border-strong)" />
            <rect x={x} y="60" width="25" height="8" rx="1" fill="var(--of-sampled)" />
            {cut && (
              <rect x={x - 4} y={68 - height - 5} width="33" height={height + 9} rx="4" fill="none" stroke="var(--of-paused)" strokeWidth="2" />
            )}
            <text
              x={x + 12.5}
              y="87"
              textAnchor="middle"
              fontSize="10"
              fill={cut ? "var(--of-paused)" : "var(--of-axis)"}
              fontWeight={cut ? 700 : 400}
              className="tabular-nums"
            >
              {index + 1}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

const lanes = [8, 30, 52, 74] as const;

/** Tasks at the left go through a sandbox to a verifier. */
export function StarterFigure() {
  const line = { fill: "none", stroke: "var(--of-border-strong)", strokeWidth: 1.4 } as const;
  return (
    <svg viewBox="0 0 432 92" width="100%" aria-hidden="true">
      {lanes.map((y) => (
        <g key={y}>
          <rect x="26" y={y} width="62" height="10" rx="2" fill="var(--of-surface)" stroke="var(--of-border-strong)" />
          <rect x="30" y={y + 3.5} width={y % 4 === 0 ? 36 : 46} height="3" rx="1.5" fill="var(--of-border-control)" opacity=".6" />
          <path d={`M88 ${y + 5} C 112 ${y + 5} 116 46 140 46`} {...line} />
          <path d={`M308 46 C 332 46 336 ${y + 5} 364 ${y + 5}`} {...line} />
          <circle cx="380" cy={y + 5} r="6.2" fill="var(--of-success-tint)" stroke="var(--of-success)" strokeWidth="1.4" />
          <path
            d={`M377.3 ${y + 5.3} l2 2 3.5 -4`}
            fill="none"
            stroke="var(--of-success)"
            strokeWidth="1.4"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </g>
      ))}
      <rect x="140" y="14" width="168" height="64" rx="6" fill="var(--of-surface)" stroke="var(--of-border-strong)" strokeDasharray="4 3" />
      {[0, 1, 2, 3, 4].map((call) => (
        <g key={call}>
          <rect
            x={158 + call * 28}
            y={52 - call * 5}
            width="18"
            height={12 + call * 5}
            rx="2"
            fill="var(--of-surface-sunken)"
            stroke="var(--of-border-strong)"
          />
          <rect x={158 + call * 28} y="59" width="18" height="5" rx="1" fill="var(--of-sampled)" />
        </g>
      ))}
    </svg>
  );
}
