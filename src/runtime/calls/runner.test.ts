import { expect, test } from 'vitest'
import {
  ConnectionLostError,
  type Driver,
  type Reply,
  type ScriptCall,
  ServerReplyError,
} from '../../driver.ts'
import { AmbiguousError, DriverError, InvalidArgumentError } from '../errors/errors.ts'
import type { Operation } from './operation.ts'
import { unexpected } from '../values/reply.ts'
import { Runner } from './runner.ts'
import { toRefusals } from './script-errors.ts'

const silence = Symbol('silence')
type Outcome = Reply | Error | typeof silence

const write: Operation<Record<string, never>, Reply> = {
  script: { name: 'test/write', sha1: 'abc', source: 'return 1', reads: false, bytes: false },
  parts: ['meta'],
  lines: [
    [1, 'lua/test/write.lua', 1],
    [10, 'lua/shared/clock.lua', 3],
    [14, 'lua/test/write.lua', 11],
  ],
  encode: () => [],
  decode: (reply) => reply,
}
const read: typeof write = { ...write, script: { ...write.script, name: 'test/read', reads: true } }

/** A driver that gives the outcomes in turn, and repeats the last one. */
function setup(
  outcomes: Outcome[],
  deadlineMs = 300,
): { runner: Runner; sent: ScriptCall[]; dropped: string[] } {
  const sent: ScriptCall[] = []
  const dropped: string[] = []
  const reconnect = (key: string): void => void dropped.push(key)
  const run = (call: ScriptCall): Promise<Reply> => {
    const outcome = outcomes[Math.min(sent.length, outcomes.length - 1)] as Outcome
    sent.push(call)
    if (outcome === silence) return new Promise(() => undefined)
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
  }
  return { runner: new Runner({ run, reconnect } as Partial<Driver> as Driver, deadlineMs), sent, dropped }
}

const reply = (message: string): ServerReplyError => new ServerReplyError(message)
const lost = (sent: boolean): ConnectionLostError => new ConnectionLostError('gone', sent)

test('a server that has forgotten the script gets its source at once', async () => {
  const { runner, sent } = setup([reply('NOSCRIPT No matching script'), 7])

  expect(await runner.run(write, ['k'], {})).toBe(7)
  expect(sent.map(({ send }) => send)).toEqual(['hash', 'source'])
})

test('a server that rejects the source of the script too is asked again after pauses, until the deadline', async () => {
  let sent = 0
  const run = async (): Promise<Reply> => {
    sent += 1
    await new Promise((resolve) => setImmediate(resolve))
    throw reply('NOSCRIPT No matching script')
  }
  const runner = new Runner({ run } as Partial<Driver> as Driver, 100)

  await expect(runner.run(write, ['k'], {})).rejects.toMatchObject({ name: 'DriverError', code: 'busy' })
  // Without pauses there would be thousands.
  expect(sent).toBeLessThan(50)
})

test.each([
  ...['TRYAGAIN', 'LOADING', 'CLUSTERDOWN', 'MASTERDOWN', 'READONLY', 'BUSY', 'MOVED', 'ASK'].map(
    (word) => `${word} not now`,
  ),
  'ERR Script attempted to execute a write command while the cluster is down and readonly script: 3a97, on @user_script:4.',
  'ERR Script attempted to execute a command while the cluster is down script: 3a97, on @user_script:4.',
])('a call that the server temporarily rejects is retried: %s', async (refusal) => {
  const { runner, sent } = setup([reply(refusal), reply(refusal), 7])

  expect(await runner.run(write, ['k'], {})).toBe(7)
  expect(sent).toHaveLength(3)
})

/** The error of Redis 6.2 for a command in a script; later servers word it as outside of one. */
const of62 = (said: string): string =>
  `ERR Error running script (call to f_3a97): @user_script:12: @user_script: 12: ${said}   `

test.each([
  "-READONLY You can't write against a read only replica.",
  '-NOREPLICAS Not enough good replicas to write.',
  'Script attempted to execute a write command while the cluster is down and readonly',
])('a call that Redis 6.2 temporarily rejects inside its script is retried: %s', async (said) => {
  const { runner, sent } = setup([reply(of62(said)), 7])

  expect(await runner.run(write, ['k'], {})).toBe(7)
  expect(sent).toHaveLength(2)
})

test.each([
  ["-OOM command not allowed when used memory > 'maxmemory'.", 'store-full'],
  ['-MISCONF Redis is configured to save RDB snapshots.', 'store-read-only'],
  ["The user executing the script can't run this command or subcommand", 'forbidden'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'script-failed'],
  ['user_script:12: attempt to index a nil value', 'script-failed'],
])('an error of Redis 6.2 inside a script is recognized: %s is %s', async (said, code) => {
  const { runner } = setup([reply(of62(said))])

  const error = await runner.run(write, ['k'], {}).catch((reason: unknown) => reason)

  expect(error).toMatchObject({ name: 'DriverError', code })
  if (code === 'script-failed')
    expect(error).toHaveProperty('message', expect.stringContaining('lua/shared/clock.lua:5'))
})

test('an error that a script of Redis 6.2 has caught and returned is recognized', () => {
  const why = "@user_script: 12: The user executing the script can't access at least one of the keys"

  expect(toRefusals([{ at: 0, why }], write).get(0)).toMatchObject({ code: 'forbidden' })
})

test('a call whose answer is lost is retried', async () => {
  const { runner } = setup([lost(true), lost(false), 7])

  expect(await runner.run(write, ['k'], {})).toBe(7)
})

test.each([
  ['OOM command not allowed', 'store-full'],
  ['MISCONF errors writing', 'store-read-only'],
  ['NOPERM no', 'forbidden'],
  ['NOAUTH no', 'forbidden'],
  ["ERR The user executing the script can't run this command or subcommand", 'forbidden'],
  ['ERR ACL failure in script: No permissions to access a key', 'forbidden'],
  ["ERR ACL failure in script: User app has no permissions to run the 'hset' command", 'forbidden'],
  ['LAYOUT 9', 'unknown-layout'],
  ['ERR whatever', 'script-failed'],
])('%s is a definite error with the code %s', async (message, code) => {
  const { runner, sent } = setup([reply(message)])

  await expect(runner.run(write, ['k'], {})).rejects.toMatchObject({ name: 'DriverError', code })
  expect(sent).toHaveLength(1)
})

test('the error of a rejected argument names it', async () => {
  const { runner } = setup([reply('INVALID after: not a marker')])

  const error = await runner.run(write, ['k'], {}).catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error).toMatchObject({ argument: 'after', message: 'after not a marker' })
})

test('a definite error after a lost answer is ambiguous, because the first attempt may have run', async () => {
  const { runner } = setup([lost(true), reply('OOM full')])

  await expect(runner.run(write, ['k'], {})).rejects.toThrow(AmbiguousError)
})

test('a write without answer is ambiguous at the deadline', async () => {
  const { runner } = setup([silence])

  await expect(runner.run(write, ['k'], {})).rejects.toThrow(AmbiguousError)
})

test('a write that was never sent has certainly not happened', async () => {
  const { runner } = setup([lost(false)])

  await expect(runner.run(write, ['k'], {})).rejects.toMatchObject({ code: 'unreachable' })
})

test('a read without answer is never ambiguous', async () => {
  const { runner } = setup([silence])

  await expect(runner.run(read, ['k'], {})).rejects.toMatchObject({ code: 'unreachable' })
})

test('a server that is loading until the deadline is busy', async () => {
  const { runner } = setup([reply('LOADING dataset')])

  await expect(runner.run(write, ['k'], {})).rejects.toMatchObject({ code: 'busy' })
})

test('a replica is read-only, not busy', async () => {
  const { runner } = setup([reply("READONLY You can't write against a read only replica.")])

  await expect(runner.run(write, ['k'], {})).rejects.toMatchObject({
    code: 'store-read-only',
    message:
      "test/write: the server is a read-only replica: READONLY You can't write against a read only replica.",
  })
})

test('a primary without replicas is asked until the deadline, in case they or another primary return', async () => {
  const back = setup([reply('NOREPLICAS Not enough good replicas to write.'), 7])
  const gone = setup([reply('NOREPLICAS Not enough good replicas to write.')])

  expect(await back.runner.run(write, ['k'], {})).toBe(7)
  await expect(gone.runner.run(write, ['k'], {})).rejects.toMatchObject({ code: 'store-read-only' })
})

test('an error of a script names its source line', async () => {
  const { runner } = setup([
    reply('ERR user_script:12: attempt to index a nil value script: abc, on @user_script:12.'),
  ])

  await expect(runner.run(write, ['k'], {})).rejects.toThrow(
    'test/write: ERR lua/shared/clock.lua:5: attempt to index a nil value script: abc, on lua/shared/clock.lua:5.',
  )
})

const list: typeof write = {
  ...write,
  decode: (answer) => (Array.isArray(answer) ? answer : unexpected('a list', answer)),
}

test('after a reply of a wrong shape the connection is dropped and the call is retried', async () => {
  const { runner, sent, dropped } = setup(['OK', [7]])

  expect(await runner.run(list, ['k'], {})).toEqual([7])
  expect(sent).toHaveLength(2)
  expect(dropped).toEqual(['k'])
})

test('a write with two replies of a wrong shape may have happened', async () => {
  const { runner, sent } = setup(['OK'])

  const failure = await runner.run(list, ['k'], {}).catch((error: unknown) => error)

  expect(failure).toBeInstanceOf(AmbiguousError)
  expect(failure).toMatchObject({
    message: 'the answer to test/write cannot be read: it may have happened',
    cause: { message: 'the server answered text of 2 characters where a list was expected' },
  })
  expect(sent).toHaveLength(2)
})

test('a script whose own answer has a wrong shape stops dropping connections', async () => {
  const reading: typeof list = { ...list, script: { ...list.script, name: 'test/read', reads: true } }
  const { runner, dropped } = setup(['OK'])

  for (let call = 0; call < 3; call++)
    await expect(runner.run(reading, ['k'], {})).rejects.toMatchObject({ code: 'script-failed' })

  expect(dropped).toEqual(['k'])
})

test('a call that must run once is ambiguous after a reply of a wrong shape, and is not retried', async () => {
  const { runner, sent, dropped } = setup(['OK', [7]])

  await expect(runner.run(list, ['k'], {}, { runsOnce: true })).rejects.toThrow(AmbiguousError)
  expect(sent).toHaveLength(1)
  expect(dropped).toEqual(['k'])
})

test('closing settles calls under way and rejects new ones', async () => {
  const { runner } = setup([silence], 60_000)
  const underWay = [runner.run(write, ['k'], {}), runner.run(read, ['k'], {})]

  runner.close()
  const [written, wasRead] = await Promise.allSettled(underWay)

  expect(written).toMatchObject({ reason: expect.any(AmbiguousError) })
  expect(wasRead).toMatchObject({ reason: { code: 'closed' } })
  await expect(runner.run(read, ['k'], {})).rejects.toThrow(DriverError)
})

test('during closing only calls that give something back may begin, and continuing calls get their answers', async () => {
  const answers: ((reply: Reply) => void)[] = []
  const run = (): Promise<Reply> => new Promise((answer) => answers.push(answer))
  const runner = new Runner({ run } as unknown as Driver, 1000)
  const plain = runner.run(write, ['k'], {})
  const asking = runner.run(read, ['k'], {})
  const going = runner.run(write, ['k'], {}, { atClose: 'goes on' })

  runner.beginClosing()
  const giving = runner.run(write, ['k'], {}, { atClose: 'gives back' })

  await expect(plain).rejects.toThrow(AmbiguousError)
  await expect(asking).rejects.toMatchObject({ code: 'closed' })
  await expect(runner.run(read, ['k'], {})).rejects.toMatchObject({ code: 'closed' })
  await expect(runner.run(write, ['k'], {}, { atClose: 'goes on' })).rejects.toMatchObject({ code: 'closed' })
  expect(answers).toHaveLength(4)
  answers[2]?.('late')
  answers[3]?.('given')
  expect(await Promise.all([going, giving])).toEqual(['late', 'given'])
})

test('it is quiet once no call continues and none follows immediately', async () => {
  const answers: ((reply: Reply) => void)[] = []
  const run = (): Promise<Reply> => new Promise((answer) => answers.push(answer))
  const runner = new Runner({ run } as unknown as Driver, 1000)
  const give = (): Promise<Reply> => runner.run(write, ['k'], {}, { atClose: 'gives back' })
  const both = give().then(give)
  runner.beginClosing()
  let quiet = false
  const becomesQuiet = runner.untilQuiet().then(() => (quiet = true))

  answers[0]?.(1)
  while (answers.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(quiet).toBe(false)
  answers[1]?.(2)

  expect(await both).toBe(2)
  await becomesQuiet
})

test('once closed no call continues, and calls that may have happened are ambiguous', async () => {
  const { runner } = setup([silence])
  const giving = runner.run(write, ['k'], {}, { atClose: 'gives back' })

  runner.close()

  await expect(giving).rejects.toMatchObject({ code: 'ambiguous', cause: { code: 'closed' } })
  const late = runner.run(write, ['k'], {}, { atClose: 'gives back' })
  await expect(late).rejects.toMatchObject({ code: 'closed' })
})
