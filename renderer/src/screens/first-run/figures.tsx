/** The drawings of the two cards. They show how a thing is built, not results: no number in them. */
const callHeights = [26, 30, 35, 40, 44, 49, 53, 58];
const cutCall = 5;

/** A rollout as its calls: masked prompt above, sampled answer below; one call stands out. */
export function RecordingFigure() {
  return (
    <svg viewBox="0 0 432 92" width="100%" aria-hidden="true">
      <defs>
        <pattern id="recording-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="1.3" height="5" fill="var(--of-hatch)" />
        </pattern>
      </defs>
      {callHeights.map((height, index) => {
        const x = 14 + index * 53;
        return (
          <g key={height}>
            <rect x={x} y={74 - height} width="34" height={height} rx="2" fill="url(#recording-hatch)" stroke="var(--of-border-strong)" />
            <rect x={x} y="66" width="34" height="8" rx="1" fill="var(--of-sampled)" />
            {index === cutCall && (
              <rect x={x - 4} y={74 - height - 6} width="42" height={height + 10} rx="4" fill="none" stroke="var(--of-paused)" strokeWidth="2" />
            )}
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
          <rect x="10" y={y} width="62" height="10" rx="2" fill="var(--of-surface)" stroke="var(--of-border-strong)" />
          <rect x="14" y={y + 3.5} width={y % 4 === 0 ? 36 : 46} height="3" rx="1.5" fill="var(--of-border-control)" opacity=".6" />
          <path d={`M72 ${y + 5} C 100 ${y + 5} 104 46 132 46`} {...line} />
          <path d={`M300 46 C 328 46 332 ${y + 5} 360 ${y + 5}`} {...line} />
          <circle cx="374" cy={y + 5} r="6.2" fill="var(--of-success-tint)" stroke="var(--of-success)" strokeWidth="1.4" />
          <path
            d={`M371.3 ${y + 5.3} l2 2 3.5 -4`}
            fill="none"
            stroke="var(--of-success)"
            strokeWidth="1.4"
            strokeLinecap="round"
            strokeLinejoin="round"
          />
        </g>
      ))}
      <rect x="132" y="14" width="168" height="64" rx="6" fill="var(--of-surface)" stroke="var(--of-border-strong)" strokeDasharray="4 3" />
      {[0, 1, 2, 3, 4].map((call) => (
        <g key={call}>
          <rect
            x={150 + call * 28}
            y={52 - call * 5}
            width="18"
            height={12 + call * 5}
            rx="2"
            fill="var(--of-surface-sunken)"
            stroke="var(--of-border-strong)"
          />
          <rect x={150 + call * 28} y="59" width="18" height="5" rx="1" fill="var(--of-sampled)" />
        </g>
      ))}
    </svg>
  );
}
