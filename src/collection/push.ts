// Builds with plain commands, which skip the string copies that a script makes of its arguments. No reader sees the
// build, so no script has to check it on the way. Items must not be pushed twice, so no command is retried: after any
// error the build is given up.

import type { Reply } from '../driver.ts'
import { within } from '../runtime/time/in-time.ts'
import type { Runner } from '../runtime/calls/runner.ts'
import { type Entries, inGroups } from './entries.ts'
import type { Kind } from './forms.ts'
import { ONE_CALL } from './source.ts'

const COMMANDS: Record<Kind, string> = { list: 'RPUSH', set: 'SADD', hash: 'HSET', sortedSet: 'ZADD' }
const MOST_IN_FLIGHT = 16
const MOST = { items: 4000, bytes: ONE_CALL.bytes }
/** The TTL of a build, the same as in the scripts. */
const BUILD_MS = 60_000

export interface Build {
  readonly key: string
  readonly kind: Kind
}

/**
 * Appends items to the build, which has `before` items. Resolves to true when each item certainly arrived exactly
 * once.
 */
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
    // RPUSH returns the new length, which shows that nothing arrived twice or out of order.
    if (build.kind === 'list' && replies.some((reply, nth) => reply !== sizes[nth])) return false
  }
  return true
}

/** Null when some commands may not have arrived. */
async function pushSome(
  { driver, deadlineMs }: Runner,
  { key, kind }: Build,
  groups: readonly Entries[],
): Promise<Reply[] | null> {
  const pushes = groups.map((group) => driver.write({ command: COMMANDS[kind], args: [key, ...group.parts] }))
  // Sent after the pushes, so that a late push cannot leave a key without a TTL.
  const kept = driver.write({ command: 'PEXPIRE', args: [key, BUILD_MS] })
  try {
    const [replies] = await within(Promise.all([Promise.all(pushes), kept]), deadlineMs)
    return replies
  } catch {
    // The build by scripts runs next and reports the server's error, if it persists.
    return null
  }
}
