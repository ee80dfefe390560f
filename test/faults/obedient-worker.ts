// A worker on the scripts alone: it looks for jobs when a letter wakes it or when an answer asked it to, and at no
// other time. The library's worker also polls every ten seconds, and so takes even jobs for which no worker was woken.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'
import { type AckAndClaimAnswer, ackAndClaim } from '../../src/generated/queue.ts'
import { unitPrefix } from '../../src/runtime/values/keys.ts'
import { Runner } from '../../src/runtime/calls/runner.ts'

const LEASE_MS = 60_000

export class ObedientWorker {
  /** The payloads of the jobs that it has. */
  readonly took: unknown[] = []
  readonly #runner: Runner
  readonly #place: Place
  readonly #process = randomUUID()
  #timer: NodeJS.Timeout | undefined

  /** Resolves once it waits, or has jobs. */
  static async start(port: number, namespace: string, queue: string): Promise<ObedientWorker> {
    const client = new Redis(port)
    const runner = new Runner(ioredis(client), 5000)
    const worker = new ObedientWorker(runner, { namespace, queue })
    onTestFinished(async () => {
      clearTimeout(worker.#timer)
      runner.close()
      await runner.driver.close()
      client.disconnect()
    })
    await worker.#listen()
    await worker.#look()
    return worker
  }

  private constructor(runner: Runner, place: Place) {
    this.#runner = runner
    this.#place = place
  }

  async #listen(): Promise<void> {
    const onMessage = (): void => void this.#look().catch(() => undefined)
    await this.#runner.driver.subscribe(`${channelIn(this.#place)}:${this.#process}`, {
      onMessage,
      onGap: onMessage,
    })
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    const { jobs, recheckMs } = await look(this.#runner, this.#place, `${this.#process}.1`)
    this.took.push(...jobs.map(({ payload }) => JSON.parse(payload.toString()) as unknown))
    if (recheckMs > 0) this.#timer = setTimeout(() => void this.#look().catch(() => undefined), recheckMs)
  }
}

interface Place {
  readonly namespace: string
  readonly queue: string
}

function channelIn({ namespace }: Place): string {
  return `${namespace}:{queue:}:wake`
}

/** The worker of this name looks for jobs, and waits where there are none. */
export function look(runner: Runner, place: Place, worker: string): Promise<AckAndClaimAnswer> {
  const prefix = unitPrefix(place.namespace, 'queue', place.queue)
  const keys = ackAndClaim.parts.map((part) => `${prefix}:${part}`)
  return runner.run(ackAndClaim, keys, {
    codec: 'json',
    partitions: 0,
    caller: '',
    call: '0',
    limit: 10,
    leaseMs: LEASE_MS,
    worker,
    channel: channelIn(place),
    sharded: false,
    counted: true,
    acks: [],
  })
}
