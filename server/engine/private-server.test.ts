// One redis-server on the data, whichever services die or start at the same time.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, askFields, until } from '../../test/servers/ask.ts'
import { type Engine, EngineError } from './engine.ts'
import { portOf, setupWithRedis, startAndKillService, useRedis } from './engine-fixture.ts'

const ANOTHER =
  /^another perilune service \(process \d+, (?:which is starting|http:\S+)\) is already running on this data directory: stop it, or set PERILUNE_DATA to another one$/

const pidOf = async (engine: Engine): Promise<number> =>
  Number((await askFields(portOf(engine), 'INFO', 'server')).get('process_id'))

const isBusy = (error: unknown): boolean => String(error).includes('BUSY')

const untilServes = (engine: Engine): Promise<void> =>
  until('it serves again', async () => (await ask(portOf(engine), 'PING')) === 'PONG')

/** A stopped process only ends at SIGKILL. */
function freeze(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGCONT')
    } catch {
      // It has ended.
    }
  })
}

describe('of two services on one directory', () => {
  test('that start at once one serves, and the other one reports that', async () => {
    const machine = setupWithRedis()
    useRedis(machine, '/bin/sleep 0.3')

    const starts = await Promise.allSettled([machine.start(), machine.start(), machine.start()])

    const refused = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
    expect(refused).toEqual([expect.any(EngineError), expect.any(EngineError)])
    expect(String(refused[0].message)).toMatch(ANOTHER)
    expect(machine.servers()).toHaveLength(1)
  })

  test('the second one reports where the first one listens', async () => {
    const machine = setupWithRedis()
    const engine = await machine.start()
    engine.serves?.('http://127.0.0.1:8080')

    await expect(machine.start()).rejects.toThrow(`(process ${process.pid}, http://127.0.0.1:8080)`)
    expect(machine.said).toEqual([])
  })

  test('the second one is rejected whatever happens to connections, notes and servers of the first', async () => {
    const machine = setupWithRedis()
    const engine = await machine.start()
    await ask(portOf(engine), 'CLIENT', 'KILL', 'TYPE', 'normal')
    await expect(machine.start()).rejects.toThrow(ANOTHER)

    for (const name of ['redis.json', 'service.json']) rmSync(join(machine.directory, name))
    process.kill(await pidOf(engine), 'SIGKILL')
    await expect(machine.start()).rejects.toThrow(/^another perilune service is already running/)
    await untilServes(engine)
    expect(machine.servers()).toHaveLength(1)
  })

  test('the second one may start once the first has stopped', async () => {
    const machine = setupWithRedis()
    const first = await machine.start()
    await first.stop()

    await machine.start()
    expect(machine.servers()).toHaveLength(1)
  })
})

describe('the server that a killed service has left', () => {
  test('is adopted', async () => {
    const machine = setupWithRedis()
    const left = await startAndKillService(machine)

    const engine = await machine.start()

    expect(engine.url).toBe(left)
    expect(machine.said).toEqual(['taking over the redis-server of a service that was killed'])
    await engine.stop()
    expect(machine.servers()).toEqual([])
  })

  test('is waited for while it is busy with a script', async () => {
    const machine = setupWithRedis()
    const port = Number(new URL(await startAndKillService(machine)).port)
    await ask(port, 'CONFIG', 'SET', 'busy-reply-threshold', 10)
    const endless = ask(port, 'EVAL', 'while true do end', 0).catch(String)
    await until('it is busy', () => ask(port, 'PING').then(() => false, isBusy))

    const starting = machine.start()
    await until('it waits', async () => machine.said.length > 0)
    expect(machine.servers()).toHaveLength(1)
    await ask(port, 'SCRIPT', 'KILL')
    await endless
    const engine = await starting

    expect(portOf(engine)).toBe(port)
    expect(machine.servers()).toHaveLength(1)
    expect(machine.said[0]).toMatch(/: it is busy with a script$/)
  })

  test('stays the only one when it hangs, is reported, and is adopted when it answers again', async () => {
    const machine = setupWithRedis()
    const left = await startAndKillService(machine)
    const [pid = 0] = machine.servers()
    freeze(pid)

    await expect(machine.start({}, 2000)).rejects.toThrow(
      new RegExp(
        `^the redis-server of a service that was killed \\(process ${pid}, port \\d+\\) still has the data in .*, and does not answer: end it`,
      ),
    )
    expect(machine.servers()).toEqual([pid])
    process.kill(pid, 'SIGCONT')

    expect((await machine.start()).url).toBe(left)
  })

  test.each([
    ['lost', (file: string) => rmSync(file)],
    ['about another one', (file: string) => writeFileSync(file, '{"pid":1,"port":1}')],
  ])('stays the only one when the note of it is %s', async (_, spoil) => {
    const machine = setupWithRedis()
    await startAndKillService(machine)
    spoil(join(machine.directory, 'redis.json'))

    await expect(machine.start({}, 1000)).rejects.toThrow(EngineError)

    expect(machine.servers()).toHaveLength(1)
  })

  test('is followed by another one when it ends during the wait for it', async () => {
    const machine = setupWithRedis()
    const left = await startAndKillService(machine)
    await ask(Number(new URL(left).port), 'SET', 'kept', 'yes')
    const [pid = 0] = machine.servers()
    freeze(pid)

    const starting = machine.start()
    await until('it waits', async () => machine.said.length > 0)
    process.kill(pid, 'SIGKILL')
    const engine = await starting

    expect(await ask(portOf(engine), 'GET', 'kept')).toBe('yes')
    expect(machine.servers()).toHaveLength(1)
  })

  test('is restarted once adopted, like a server of this service', async () => {
    const machine = setupWithRedis()
    await startAndKillService(machine)
    const engine = await machine.start()
    const [left = 0] = machine.servers()
    await ask(portOf(engine), 'SET', 'kept', 'yes')
    await ask(portOf(engine), 'CLIENT', 'KILL', 'TYPE', 'normal')

    for (const pid of [left, 0]) {
      const running = pid || (await pidOf(engine))
      process.kill(running, 'SIGKILL')
      await until('another one runs', async () => (await pidOf(engine)) !== running)
    }

    // It may be loading its data.
    await until(
      'it serves',
      async () => (await ask(portOf(engine), 'GET', 'kept').catch(() => null)) !== null,
    )
    expect(await ask(portOf(engine), 'GET', 'kept')).toBe('yes')
    await engine.stop()
    expect(machine.servers()).toEqual([])
  })
})

describe('a server that ends by itself', () => {
  test('is restarted on the same port with the same data, and readiness reports why it is away', async () => {
    const machine = setupWithRedis()
    const engine = await machine.start()
    await ask(portOf(engine), 'SET', 'kept', 'yes')
    expect(engine.obstacle?.()).toBe(null)
    useRedis(machine, 'while [ ! -e "${0%/*}/go" ]; do /bin/sleep 0.05; done')

    process.kill(await pidOf(engine), 'SIGKILL')
    await until('its end is noticed', async () => engine.obstacle?.() !== null)
    expect(engine.obstacle?.()).toBe('the private Redis has ended, and is being restarted')
    machine.program('go', '')
    await untilServes(engine)

    expect(await ask(portOf(engine), 'GET', 'kept')).toBe('yes')
    await until('nothing is reported any more', async () => engine.obstacle?.() === null)
    expect(machine.said).toEqual([
      'the private redis-server has ended (killed by SIGKILL): restarting it',
      'redis-server runs again',
    ])
  })

  test('is retried after each failure, and its reason is reported once', async () => {
    const machine = setupWithRedis()
    const engine = await machine.start()
    useRedis(machine, 'exit 3')

    process.kill(await pidOf(engine), 'SIGKILL')
    await until('it has been tried', async () => machine.starts() > 3)
    useRedis(machine)
    await untilServes(engine)

    expect(
      machine.said.filter((line) => line.startsWith('redis-server cannot run again yet: ')),
    ).toHaveLength(1)
  })

  test('is not restarted by a service that stops', async () => {
    const machine = setupWithRedis()
    const engine = await machine.start()
    useRedis(machine, '/bin/sleep 0.3')
    process.kill(await pidOf(engine), 'SIGKILL')
    await until('another one is about to serve', async () => machine.servers().length === 1)

    await engine.stop()

    expect(machine.servers()).toEqual([])
    await sleep(500)
    expect(machine.servers()).toEqual([])
  })

  test('ends with a service that exits without having stopped it', async () => {
    const machine = setupWithRedis()
    await startAndKillService(machine, 'SIGTERM')

    await until('it has ended', async () => machine.servers().length === 0)
    expect(machine.starts()).toBe(1)
  })
})
