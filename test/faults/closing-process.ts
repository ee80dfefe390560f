// A process that holds all that a structure can hold, closes its instance and its client, and then has to end by
// itself.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { perilune } from '../../src/perilune.ts'
import { type Scene, scenes } from './closing-scenes.ts'

export interface Order {
  readonly client: 'ioredis' | 'node-redis'
  readonly port: number
  readonly namespace: string
  readonly structure: string
  /** It closes on request; otherwise once it holds everything. */
  readonly waits: boolean
}

/** How what each scene watches has ended when `close` resolves. */
export type Ends = Record<string, string[]>

const HANGS = 3
const UNHANDLED = 4

const order = JSON.parse(process.argv[2] ?? '{}') as Order

process.on('unhandledRejection', (error) => {
  console.error('unhandled', error)
  process.exit(UNHANDLED)
})

async function connect({ client, port }: Order): Promise<{ driver: Driver; disconnect(): void }> {
  if (client === 'ioredis') {
    const connection = new Redis(port)
    connection.on('error', () => undefined)
    return { driver: ioredis(connection), disconnect: () => connection.disconnect() }
  }
  const connection = createClient({ socket: { host: '127.0.0.1', port } })
  connection.on('error', () => undefined)
  await connection.connect()
  return { driver: nodeRedis(connection), disconnect: () => connection.destroy() }
}

function endOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => `${(error as Error).name} ${(error as { code?: string }).code}`,
  )
}

const { driver, disconnect } = await connect(order)
const redis = perilune(driver, { namespace: order.namespace, deadline: '1m' })
await redis.preload()
const ends: Ends = {}

/** Pending calls are issued last: they are under way when the instance closes. */
const all: [string, Scene][] = Object.entries(scenes[order.structure] ?? {})
const isAsked = ([title]: [string, Scene]): boolean =>
  title.endsWith('asked for') || title.endsWith('take under way')

function play([title, scene]: [string, Scene]): unknown {
  const outcomes: string[] = (ends[title] = [])
  const watch = (call: Promise<unknown>): void => void endOf(call).then((end) => outcomes.push(end))
  return scene.hold({ redis, name: title, watch })
}

await Promise.all(all.filter((each) => !isAsked(each)).map(play))
// A connection that is being opened has a time limit of its own.
for (let times = 0; times < 10; times = redis.healthy() ? times + 1 : 0) await sleep(10)
process.send?.('holds')
if (order.waits) await once(process, 'message')
setTimeout(() => process.exit(HANGS), 10_000).unref()
for (const each of all.filter(isAsked)) void play(each)
await new Promise((resolve) => process.nextTick(resolve))
await redis.close()
disconnect()
process.send?.(ends, () => process.disconnect())
