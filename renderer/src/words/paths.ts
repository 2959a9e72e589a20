/** Places on the machine of the service, as they are typed. Pure. */

/** From the root, on any system: the service has no folder of its own that a shorter path could begin in. */
export const isWholePath = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path.trim());
