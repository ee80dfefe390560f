// Building by plain commands: what a command takes itself, a script would first make strings of. Nobody sees what is
// built, so nothing has to be judged on the way. But nothing may be pushed twice, so nothing is sent twice: whatever
// goes wrong, the build is given up.

import type { Reply } from '../driver.ts'
import { within } from '../runtime/time/in-time.ts'
import type { Runner } from '../runtime/calls/runner.ts'
import { type Entries, inGroups } from './entries.ts'
import type { Kind } from './forms.ts'
import { ONE_CALL } from './source.ts'

const COMMANDS: Record<Kind, string> = { list: 'RPUSH', set: 'SADD', hash: 'HSET', sortedSet: 'ZADD' }
const MOST_IN_FLIGHT = 16
const MOST = { items: 4000, bytes: ONE_CALL.bytes }
/** As the scripts let go of it. */
const BUILD_MS = 60_000

export interface Build {
  readonly key: string
  readonly kind: Kind
}

/** Puts them behind the `before` items that are built; resolves to whether it is certain that each arrived once. */
export async function pushAll(
  runner: Runner,
  build: Build,
  entries: Entries,
  before: number,
): Promise<boolean> {
  const groups = inGroups(entries, MOST)
  let size = before
  for (let at = 0; at < groups.length; at += MOST_IN_FLIGHT) {
    const some = groups.slice(at, at + MOST_IN_FLIGHT)
    const sizes = some.map((group) => (size += group.sizes.length))
    const replies = await pushSome(runner, build, some)
    if (replies === null) return false
    // A list answers how long it is now: so nothing came twice, and in no other order.
    if (build.kind === 'list' && replies.some((reply, nth) => reply !== sizes[nth])) return false
  }
  return true
}

/** Null: it is not known of all whether they arrived. */
async function pushSome(
  { driver, deadlineMs }: Runner,
  { key, kind }: Build,
  groups: readonly Entries[],
): Promise<Reply[] | null> {
  const pushes = groups.map((group) => driver.write({ command: COMMANDS[kind], args: [key, ...group.parts] }))
  // Behind them, so that one which comes late leaves nothing that stays.
  const kept = driver.write({ command: 'PEXPIRE', args: [key, BUILD_MS] })
  try {
    const [replies] = await within(Promise.all([Promise.all(pushes), kept]), deadlineMs)
    return replies
  } catch {
    // The build by scripts, which comes next, tells what is wrong with the server, if anything.
    return null
  }
}
