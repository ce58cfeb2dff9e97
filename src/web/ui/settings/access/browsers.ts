/** Short browser names from user agents. The order matters, because user agents also name other browsers. */

const BROWSERS: [RegExp, string][] = [
  [/\bEdgA?(iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\/|FxiOS\//, 'Firefox'],
  [/Chrome\/|CriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const SYSTEMS: [RegExp, string][] = [
  [/iPhone/, 'iPhone'],
  [/iPad/, 'iPad'],
  [/Android/, 'Android'],
  [/Macintosh|Mac OS X/, 'Mac'],
  [/Windows/, 'Windows'],
  [/Linux|X11/, 'Linux'],
]

const nameIn = (names: [RegExp, string][], agent: string): string | undefined =>
  names.find(([pattern]) => pattern.test(agent))?.[1]

/** `Safari on iPhone`; the first word of an unknown user agent. */
export function browserName(agent: string): string {
  const system = nameIn(SYSTEMS, agent)
  const browser = nameIn(BROWSERS, agent) ?? (agent.split(/[\s/]/)[0] || 'Unknown client')
  return system === undefined ? browser : `${browser} on ${system}`
}
