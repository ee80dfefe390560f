import assert from 'node:assert/strict'
import { ServerReplyError } from '../driver.ts'
import { callOf, ECHO, FAIL, failureOf, scriptOf, WRITE } from './driver-calls.ts'
import { type DriverCase, withDriver } from './driver-context.ts'

const ALL_BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

export const replyCases: DriverCase[] = [
  {
    title: 'arguments and replies hold any bytes',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = `{${context.uniqueTag()}}:кey €`
        const script = scriptOf('return {KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]}', { bytes: true })
        const view = new Uint8Array(ALL_BYTES.buffer, ALL_BYTES.byteOffset + 128, 3)

        const reply = await driver.run(callOf(script, [key], [ALL_BYTES, view, 'ünï', '']))

        assert.deepEqual(reply, [
          Buffer.from(key),
          ALL_BYTES,
          Buffer.from([128, 129, 130]),
          Buffer.from('ünï'),
          Buffer.alloc(0),
        ])
      }),
  },
  {
    title: 'a script without bytes returns text, and numbers stay unchanged',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const script = scriptOf('return {ARGV[1], ARGV[2], ARGV[3], redis.status_reply("FINE")}')

        const reply = await driver.run(callOf(script, [context.uniqueTag()], ['a\r\n€', 42, -1.5]))

        assert.deepEqual(reply, ['a\r\n€', '42', '-1.5', 'FINE'])
      }),
  },
  {
    title: 'a script with bytes returns integers as numbers and all other values as Buffers',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const script = scriptOf('return {ARGV[1], 7, false, {ARGV[1]}, redis.status_reply("FINE")}', {
          bytes: true,
        })

        const reply = await driver.run(callOf(script, [context.uniqueTag()], ['x']))

        assert.deepEqual(reply, [Buffer.from('x'), 7, null, [Buffer.from('x')], Buffer.from('FINE')])
      }),
  },
  {
    title: 'integers, null, empty lists and nested lists keep their shape',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const ask = (source: string) => driver.run(callOf(scriptOf(source), [tag]))

        assert.equal(await ask('return 4503599627370497'), 4_503_599_627_370_497)
        assert.equal(await ask('return -1'), -1)
        assert.equal(await ask('return true'), 1)
        assert.equal(await ask('return nil'), null)
        assert.equal(await ask("return ''"), '')
        assert.deepEqual(await ask('return {}'), [])
        assert.deepEqual(await ask("return {1, {'a', {2, false}}, {}}"), [1, ['a', [2, null]], []])
      }),
  },
  {
    title: 'an error of a script is a ServerReplyError with its error code',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        await driver.run(callOf(WRITE, [key], ['text']))

        const own = await failureOf(driver.run(callOf(FAIL, [key])))
        const wrongType = await failureOf(
          driver.run(callOf(scriptOf("return redis.pcall('LPUSH', KEYS[1], 1)"), [key])),
        )

        assert.ok(own instanceof ServerReplyError && wrongType instanceof ServerReplyError)
        assert.equal(own.word, 'SORRY')
        assert.match(own.message, /^SORRY not today/)
        assert.equal(wrongType.word, 'WRONGTYPE')
      }),
  },
  {
    title: 'an unknown hash is NOSCRIPT; once the source was sent, the hash is known',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const source = callOf(scriptOf(`return '${tag}'`), [tag])
        const hash = { ...source, send: 'hash' as const }

        const unknown = await failureOf(driver.run(hash))
        const first = await driver.run(source)
        const second = await driver.run(hash)

        assert.ok(unknown instanceof ServerReplyError)
        assert.equal(unknown.word, 'NOSCRIPT')
        assert.deepEqual([first, second], [tag, tag])
      }),
  },
  {
    title: 'load makes a script known on every primary, and a flush forgets it',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const script = scriptOf(`return '${tag}'`)
        const call = { ...callOf(script, [tag]), send: 'hash' as const }

        await driver.load(script)
        const known = await context.command('SCRIPT', 'EXISTS', script.sha1)
        const answer = await driver.run(call)
        await context.command('SCRIPT', 'FLUSH')
        const forgotten = await failureOf(driver.run(call))

        for (const perPrimary of known) assert.deepEqual(perPrimary, [1])
        assert.equal(answer, tag)
        assert.ok(forgotten instanceof ServerReplyError && forgotten.word === 'NOSCRIPT')
      }),
  },
  {
    title: 'many calls settle independently, in their order',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const count = scriptOf("return redis.call('INCR', KEYS[1])")
        const calls = [
          callOf(count, [tag]),
          callOf(FAIL, [tag]),
          callOf(count, [tag]),
          callOf(ECHO, [`${tag}:other`], ['b']),
        ]

        const outcomes = await Promise.allSettled(driver.runMany(calls))

        const [first, failed, second, other] = outcomes.map((outcome) =>
          outcome.status === 'fulfilled' ? outcome.value : outcome.reason,
        )
        assert.deepEqual([first, second, other], [1, 2, 'b'])
        assert.ok(failed instanceof ServerReplyError && failed.word === 'SORRY')
      }),
  },
  {
    title: 'a thousand calls of one tick get a thousand answers',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const calls = Array.from({ length: 1000 }, (_, n) => callOf(ECHO, [`${tag}:${n}`], [n]))

        const replies = await Promise.all(driver.runMany(calls))

        assert.deepEqual(
          replies,
          Array.from({ length: 1000 }, (_, n) => String(n)),
        )
      }),
  },
]
