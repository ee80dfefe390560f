import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError, ServerReplyError } from '../driver.ts'
import {
  callOf,
  ECHO,
  failureOf,
  scriptOf,
  unhandledDuring,
  until,
  untilAnswered,
  WRITE,
} from './driver-calls.ts'
import { type DriverCase, type DriverContext, withDriver } from './driver-context.ts'

// Endless while the key exists, so that a client that resends it to the revived server does no harm.
const ENDLESS = scriptOf("while redis.call('EXISTS', KEYS[1]) == 1 do end return 'gone'")

/** Kills the server of `key` while it runs the given call. */
async function crashDuring(context: DriverContext, key: string): Promise<void> {
  await sleep(30) // the server runs the call by now; if not, the call only fails sooner
  await context.crash?.(key)
}

export const faultCases: DriverCase[] = [
  {
    title:
      'when a server dies during a call, calls under way fail as possibly done, and calls succeed once it is back',
    needs: 'crash',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = `{${context.uniqueTag()}}`
        await driver.run(callOf(WRITE, [key], ['x']))

        const unhandled = await unhandledDuring(async () => {
          const failures = [callOf(ENDLESS, [key]), callOf(ECHO, [key], [1]), callOf(ECHO, [key], [2])].map(
            (call) => failureOf(driver.run(call)),
          )
          await crashDuring(context, key)
          for (const failure of await Promise.all(failures)) {
            assert.ok(failure instanceof ConnectionLostError, String(failure))
            assert.equal(failure.sent, true)
          }
          await context.revive?.()
          assert.equal(await untilAnswered(driver, callOf(ECHO, [key], ['back'])), 'back')
        })

        assert.deepEqual(unhandled, [])
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
  {
    title: 'a call whose connection is cut settles, however the client reacts',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        await driver.run(callOf(WRITE, [key], ['before']))

        await context.command('CLIENT', 'PAUSE', '20000', 'WRITE')
        const outcome = driver.run(callOf(WRITE, [key], ['after'])).catch((error: unknown) => error)
        await sleep(30) // the server has received it by now, and blocks it
        await context.command('CLIENT', 'KILL', 'TYPE', 'normal')
        await context.command('CLIENT', 'UNPAUSE')

        const settled = await outcome
        assert.ok(
          settled === 'written' || (settled instanceof ConnectionLostError && settled.sent),
          String(settled),
        )
      }),
  },
  {
    title: 'a subscription survives a restart of its server',
    needs: 'crash',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = `wake:{${context.uniqueTag()}}`
        let gaps = 0
        const { cluster, shardedChannels } = await driver.info()
        if (cluster && !shardedChannels) return // a plain channel may be on another server than the one that dies
        await driver.subscribe(key, { onMessage() {}, onGap: () => gaps++ })

        await context.crash?.(key)
        await until(() => !driver.healthy(), 'the driver noticed')
        await context.revive?.()
        await until(() => gaps > 0, 'the gap was reported')

        await untilAnswered(driver, callOf(ECHO, [key], ['back']))
        await until(() => driver.healthy(), 'the driver was healthy again')
      }),
  },
  {
    title: 'calls succeed again on the new primary',
    needs: 'failover',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = context.uniqueTag()
        await driver.run(callOf(WRITE, [key], ['before']))

        await context.failover?.()

        assert.equal(await untilAnswered(driver, callOf(WRITE, [key], ['after'])), 'written')
      }),
  },
  {
    title: 'scripts and reads find a slot that moved',
    needs: 'moveSlot',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const key = `{${context.uniqueTag()}}:a`
        await driver.run(callOf(WRITE, [key], ['kept']))

        await context.moveSlot?.(key)
        const many = Array.from({ length: 20 }, (_, n) => callOf(ECHO, [key], [n]))
        const replies = await Promise.all(driver.runMany(many))
        const read = await Promise.all(driver.read([{ command: 'MGET', args: [key, context.uniqueTag()] }]))

        assert.deepEqual(
          replies,
          many.map((_, n) => String(n)),
        )
        assert.deepEqual(read, [[Buffer.from('kept'), null]])
      }),
  },
  {
    title: 'keys with one tag are accepted together, and keys of two slots are rejected',
    needs: 'cluster',
    run: (context) =>
      withDriver(context, async ({ driver }) => {
        const tag = context.uniqueTag()
        const move = scriptOf(
          "redis.call('SET', KEYS[1], 1) redis.call('RENAME', KEYS[1], KEYS[2]) return KEYS[2]",
        )

        const together = await driver.run(callOf(move, [`{${tag}}:a`, `{${tag}}:b`]))
        // With 16,384 slots, two tags occasionally share one.
        const others = [1, 2, 3].map((n) => `{${tag}${n}}:b`)
        const keys = [`{${tag}}:a`, `{${tag}}:b`, ...others]
        const apart = await failureOf(driver.run(callOf(move, keys)))

        assert.equal(together, `{${tag}}:b`)
        assert.ok(apart instanceof ServerReplyError && apart.word === 'CROSSSLOT', String(apart))
      }),
  },
  {
    title: 'close fails pending and later calls, and leaves the client usable',
    run: async (context) => {
      const opened = await context.open()
      const { driver } = opened
      const key = context.uniqueTag()
      await driver.subscribe(`wake:{${key}}`, { onMessage() {}, onGap() {} })
      assert.equal(driver.healthy(), true)

      const pending = failureOf(driver.run(callOf(ECHO, [key], ['x'])))
      await driver.close()
      const [before, after] = await Promise.all([pending, failureOf(driver.run(callOf(ECHO, [key], ['x'])))])
      const late = await failureOf(driver.subscribe(key, { onMessage() {}, onGap() {} }))

      assert.ok(before instanceof ConnectionLostError && before.sent)
      assert.ok(after instanceof ConnectionLostError && !after.sent)
      assert.ok(late instanceof ConnectionLostError && !late.sent)
      assert.equal(driver.healthy(), false)
      assert.ok(await opened.ping())
      await opened.close()
    },
  },
]
