import { remove } from '../generated/feed.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { knownIds, type Source } from './message.ts'

export interface RemoveOptions {
  /** True removes messages under a live claim too; default false. */
  evenClaimed?: boolean
}

export interface Removed {
  readonly count: number
  /** Messages that stayed because a live claim holds them. */
  readonly held: readonly string[]
}

export async function removeMessages<Body>(
  { unit }: Source<Body>,
  ids: readonly string[],
  options: RemoveOptions,
): Promise<Removed> {
  checkOptions('options', options, ['evenClaimed'])
  const { evenClaimed = false } = options
  const known = knownIds('ids', ids)
  if (known.length === 0) return { count: 0, held: [] }
  const answer = await unit.runOnce(remove, ({ caller, call }) => ({ caller, call, evenClaimed, ids: known }))
  return { count: answer.count, held: answer.held.map(String) }
}
