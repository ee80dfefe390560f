// The search domains of the system, and which names are short enough to be looked up there first.

import { readFileSync } from 'node:fs'

/** Windows has no such file. */
const FILE = '/etc/resolv.conf'
const MOST_DOTS = 15

interface Search {
  readonly domains: readonly string[]
  /** Names with fewer dots are short. */
  readonly dots: number
}

/** The names to query for `host`, in this order. */
export function namesToAsk(host: string, file: string = FILE): string[] {
  if (host.endsWith('.')) return [host]
  const { domains, dots } = searchIn(textOf(file))
  // The system also tries other names there when they are not found.
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
    // The last line is used.
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
