// The domains in which the system looks for short names, and how short a name must be to be looked for there first.

import { readFileSync } from 'node:fs'

/** On Windows there is none. */
const FILE = '/etc/resolv.conf'
const MOST_DOTS = 15

interface Search {
  readonly domains: readonly string[]
  /** Names with fewer dots are short. */
  readonly dots: number
}

/** What to ask name servers for where somebody means `host`, in this order. */
export function namesToAsk(host: string, file: string = FILE): string[] {
  if (host.endsWith('.')) return [host]
  const { domains, dots } = searchIn(textOf(file))
  // Where others are not found, the system looks there, too.
  if (host.split('.').length > dots) return [host]
  return [...domains.map((domain) => `${host}.${domain}`), host]
}

function searchIn(text: string): Search {
  let [domains, dots]: [string[], number] = [[], 1]
  for (const line of text.split('\n')) {
    const [word, ...rest] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/)
    // The last one counts.
    if (word === 'search' || word === 'domain') domains = rest.map((domain) => domain.replace(/\.$/, ''))
    const [, least] = (word === 'options' && /(?:^|\s)ndots:(\d+)/.exec(rest.join(' '))) || []
    if (least !== undefined) dots = Math.min(Number(least), MOST_DOTS)
  }
  return { domains: domains.filter((domain) => domain !== ''), dots }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
