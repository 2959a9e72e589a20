/** Unix milliseconds of an ISO 8601 time; null for none and for what is no time. A time without a zone is taken as UTC. */
export function moment(text: string | null | undefined): number | null {
  if (text == null || !/^\d{4}-?\d\d-?\d\d/.test(text)) return null;
  const withTime = /[T ]\d\d/.test(text);
  const time = Date.parse(!withTime || /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isFinite(time) ? time : null;
}
