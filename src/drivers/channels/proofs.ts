import type { OpenLine, Whereabouts } from './open-line.ts'

/** On a cluster a line has channels of many slots: so many of them are looked at in a round, in turn. */
const CHANNELS_A_ROUND = 5

/** Each line proves itself by some of its channels; one that is elsewhere is closed. Resolves to whether all are where they belong. */
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

/** Some of the names, others in each round. */
function inTurn(names: readonly string[], round: number): string[] {
  const count = Math.min(names.length, CHANNELS_A_ROUND)
  return Array.from({ length: count }, (_, n) => names[(round * count + n) % names.length] ?? '')
}
