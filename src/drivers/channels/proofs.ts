import type { OpenLine, Whereabouts } from './open-line.ts'

/** On a cluster a line has channels of many slots: each round checks this many, in rotation. */
const CHANNELS_A_ROUND = 5

/**
 * Verifies each line by some of its channels; a line at the wrong node is closed. Resolves to whether all lines are
 * right.
 */
export async function proveAll(
  channels: ReadonlyMap<OpenLine, readonly string[]>,
  round: number,
): Promise<boolean> {
  const found = await Promise.all(
    Array.from(channels, ([line, names]) => proveOne(line, inTurn(names, round))),
  )
  return found.every((whereabouts) => whereabouts === 'here')
}

async function proveOne(line: OpenLine, channels: readonly string[]): Promise<Whereabouts> {
  line.feelPulse()
  const found = await line.prove(channels)
  if (found === 'elsewhere') line.close()
  return found
}

/** Some of the names; each round continues after the previous one. */
function inTurn(names: readonly string[], round: number): string[] {
  const count = Math.min(names.length, CHANNELS_A_ROUND)
  return Array.from({ length: count }, (_, n) => names[(round * count + n) % names.length] ?? '')
}
