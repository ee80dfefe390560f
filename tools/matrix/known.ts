// Differences between servers that are known: a sentence for each red test.

import list from './known.json' with { type: 'json' }

export interface Known {
  /** Names of servers.json. */
  readonly servers: readonly string[]
  /** A regular expression for file and title. */
  readonly test: string
  readonly why: string
}

export const KNOWN: readonly Known[] = list

/** Null for a red that no one has explained. */
export function whyRed(red: string, server: string, known: readonly Known[] = KNOWN): string | null {
  const found = known.find(({ servers, test }) => servers.includes(server) && new RegExp(test).test(red))
  return found?.why ?? null
}
