// Events are the same on the fast path and on the slow path: the same history is played on two queues, one of which
// has a setting that the fast path does not support.

import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { type EventMessage, readMessage } from '../../src/queue/events.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { seeded } from '../soak/random.ts'
import { QueueCalls } from './queue-calls.ts'

const HISTORIES = 15
const STEPS = 30
const NAMES = ['mail', 'image', 'a\tb%', 'größe'] as const

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const ears = client.duplicate()
const driver = ioredis(client)
const heard = new Map<string, string[]>()
ears.on('message', (channel, message: string) => heard.get(channel)?.push(message))

afterAll(async () => {
  await driver.close()
  ears.disconnect()
  client.disconnect()
})

interface Claimed {
  readonly number: string
  readonly token: number
}

/** One of the two queues, and what is heard of it. */
class Side {
  readonly calls: QueueCalls = new QueueCalls(driver)
  readonly #isQuick: boolean
  readonly #messages: string[] = []
  #quickly = 0

  constructor(isQuick: boolean) {
    this.#isQuick = isQuick
  }

  async begin(): Promise<void> {
    await this.calls.setClock(START_US)
    const channel = `${this.calls.prefix}:events`
    heard.set(channel, this.#messages)
    await ears.subscribe(channel)
    await this.calls.run('listen', { name: 'x.1', listen_ms: 3_600_000, channel })
    if (!this.#isQuick) await this.calls.run('configure', { concurrency: 1_000_000 })
    // The fast path is for queues that have begun.
    await this.enqueue('mail', ['first'])
  }

  async enqueue(name: string, payloads: readonly string[]): Promise<void> {
    await this.calls.run('enqueue-alike', { name, payloads: [...payloads] })
  }

  async exchange(acks: readonly Claimed[], limit: number): Promise<Claimed[]> {
    const args = { acks: acks.map((ack) => ({ ...ack })), limit, lease_ms: 3_600_000 }
    if (this.#isQuick) {
      const answer = await this.calls.run('ack-and-claim-plain', args)
      expect(answer[0]).toBe('claimed')
      this.#quickly += 1
      return quickly(answer)
    }
    const answer = await this.calls.run('ack-and-claim', args)
    return (answer[8] as Value[][]).map(([number, token]) => ({
      number: String(Number(number)),
      token: Number(token),
    }))
  }

  /** All events, and how many jobs took the fast path. */
  async end(): Promise<{ messages: EventMessage[]; quickly: number }> {
    await client.publish(`${this.calls.prefix}:events`, 'end')
    while (this.#messages.at(-1) !== 'end') await new Promise((resolve) => setImmediate(resolve))
    const messages = this.#messages.slice(0, -1).map((message) => readMessage(message, { partition: null }))
    return { messages, quickly: this.#quickly }
  }
}

function quickly(answer: readonly Value[]): Claimed[] {
  const [first, numbers] = answer.slice(6) as [number, string]
  return numbers === '' ? [] : numbers.split(' ').map((number, at) => ({ number, token: first + at }))
}

test('events of the fast path and of the slow path are the same', async () => {
  let total = 0
  for (let seed = 1; seed <= HISTORIES; seed += 1) {
    const sides = [new Side(true), new Side(false)] as const
    for (const side of sides) await side.begin()
    const random = seeded(seed)
    let held: [Claimed[], Claimed[]] = [[], []]
    for (let step = 0; step < STEPS; step += 1) {
      const us = START_US + step * 1000
      for (const side of sides) await side.calls.setClock(us)
      const name = NAMES[Math.floor(random() * NAMES.length)] ?? 'mail'
      const count = Math.floor(random() * 5)
      const payloads = Array.from({ length: count }, (_, at) => String(at))
      if (count > 0) for (const side of sides) await side.enqueue(name, payloads)
      const limit = Math.floor(random() * 6)
      const acked = Math.floor(random() * (held[0].length + 1))
      const [quick, slow] = await Promise.all(
        sides.map(async (side, at) => side.exchange(held[at as 0 | 1].slice(0, acked), limit)),
      )
      held = [
        [...held[0].slice(acked), ...(quick ?? [])],
        [...held[1].slice(acked), ...(slow ?? [])],
      ]
    }
    const [quick, slow] = [await sides[0].end(), await sides[1].end()]
    expect(quick.messages, `seed ${seed}`).toEqual(slow.messages)
    total += quick.messages.flatMap(({ events }) => events).length
    expect(quick.quickly).toBe(STEPS)
  }
  expect(total).toBeGreaterThan(HISTORIES * STEPS)
})
