/** What a task that names no limits gets, in every kind: generous for an agent, too small to take the machine down. */
export const defaultLimits = { memoryMb: 4096, processes: 1024 } as const;
