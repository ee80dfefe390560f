// The places where user code, and durations set by users, enter the library: rule 10 of ARCHITECTURE.md.

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { filesIn, textOf } from '../tools/measure/source-files.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const TIMERS =
  'rule 10: setTimeout ends after 1 ms where it is given more than 24.8 days: lengths that users decide go to src/runtime/time/timer.ts'
const THROWN =
  'rule 10: anything may be thrown, and asking it may throw: src/runtime/errors/thrown.ts puts it into words, is-error.ts says what it is'

const FLAGS = 'a flag that a user may give is checked by checkFlag: the text false is true'

const sources = ['src', 'server']
  .flatMap((folder) => filesIn(ROOT, folder, '.ts'))
  .filter((path) => !path.endsWith('.test.ts'))

/** Fails with the rule and every file that breaks it. */
function holds(rule: string, offenders: readonly string[]): void {
  expect(offenders, [`ARCHITECTURE.md: ${rule}`, ...offenders].join('\n')).toEqual([])
}

/** Each of their timers has a length that no user decides, or one that is checked to be of a day at most. */
const WITH_TIMERS_OF_THEIR_OWN = new Set([
  'src/drivers/channels/channels.ts',
  'src/drivers/node-redis/end-of-call.ts',
  'src/drivers/node-redis/late-nodes.ts',
  'src/drivers/wire/pauses.ts',
  'src/drivers/wire/pending-runs.ts',
  'src/drivers/channels/rounds.ts',
  'src/drivers/wire/those-that-answer.ts',
  'src/drivers/wire/time-limit.ts',
  'src/testing/driver-calls.ts',
  'src/testing/driver-faults.ts',
  'server/http/answers/pauses.ts',
  'server/zaqar/webhooks/for-room.ts',
  'server/http/bodies/bodies.ts',
  'server/http/bodies/turns.ts',
  'server/http/requests/broken.ts',
  'server/counters/flush-alone.ts',
  'server/counters/sqlite-file.ts',
  'server/engine/child.ts',
  'server/engine/connection.ts',
  'server/engine/docker.ts',
  'server/engine/engine-fixture.ts',
  'server/engine/external.ts',
  'server/engine/home.ts',
  'server/engine/left.ts',
  'server/engine/private-server.ts',
  'server/process/afterwards.ts',
  'server/process/output.ts',
  'server/http/answers/pieces.ts',
  'server/zaqar/queues/dead-letters.ts',
  'server/health/greeting.ts',
  'server/health/readiness.ts',
  'server/service.ts',
  'server/zaqar/addresses/names.ts',
  'server/zaqar/webhooks/news.ts',
  'server/zaqar/webhooks/webhook.ts',
  'server/testing/feed-api.ts',
  'server/http/answers/unsent.ts',
  'server/v1/api/leases.ts',
  'server/v1/feeds/event-stream.ts',
  'server/v1/queues/events.ts',
  'server/v1/api/waits.ts',
  'server/process/output.ts',
  'server/process/within.ts',
])

test('a timer whose length a user may set uses src/runtime/time/timer.ts', () => {
  // A command of ioredis has a method of that name.
  const timer = /(?<!command\.)\b(?:setTimeout|setInterval|AbortSignal\.timeout)\b/
  const bare = sources.filter((path) => timer.test(textOf(ROOT, path)))
  expect(bare).toContain('src/runtime/time/timer.ts')
  holds(
    TIMERS,
    bare.filter((path) => path !== 'src/runtime/time/timer.ts' && !WITH_TIMERS_OF_THEIR_OWN.has(path)),
  )
  holds(
    `${TIMERS}: these have none any more`,
    [...WITH_TIMERS_OF_THEIR_OWN].filter((path) => !bare.includes(path)),
  )
})

test('a flag that a user may pass is checked', () => {
  // Values given by users are not readonly.
  const option = /^ {2}(\w+)\?: boolean$/gm
  const flags = sources.flatMap((path) => {
    const folder = /^src\/(?!runtime\/|drivers\/|generated\/|testing\/)\w+\//.exec(path)?.[0]
    if (folder === undefined) return []
    const names = [...textOf(ROOT, path).matchAll(option)].map(([, name = '']) => name)
    const others = sources.filter((other) => other.startsWith(folder)).map((other) => textOf(ROOT, other))
    const isChecked = (name: string): boolean => {
      const check = new RegExp(`checkFlag\\('(?:\\w+\\.)?${name}'`)
      return others.some((text) => check.test(text))
    }
    return names.map((name) => ({ name: `${path}: ${name}`, isChecked: isChecked(name) }))
  })
  expect(flags.length).toBeGreaterThan(10)
  holds(
    FLAGS,
    flags.filter(({ isChecked }) => !isChecked).map(({ name }) => name),
  )
})

test('src/runtime/errors/thrown.ts describes every thrown value', () => {
  const words = /\bString\((?:error|thrown|reason|cause)\)|\b(?:error|thrown|reason) instanceof Error\b/
  // Drivers know the errors of their clients, and import nothing of the runtime; croner and our own script errors throw
  // errors.
  const knowing = [
    'src/drivers/',
    'src/testing/',
    'src/runtime/errors/thrown.ts',
    'src/runtime/calls/server.ts',
    'src/queue/recurring/cron.ts',
  ]
  holds(
    THROWN,
    sources.filter((path) => {
      const isOurs = path.startsWith('src/') && !knowing.some((known) => path.startsWith(known))
      return isOurs && words.test(textOf(ROOT, path))
    }),
  )
})
