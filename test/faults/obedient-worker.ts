// A worker by the scripts alone: it looks for jobs when a letter calls it and when an answer has told it to, and never else. That
// of the library looks every ten seconds besides, and so takes in the end whatever nobody was called for.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { onTestFinished } from 'vitest'
import { type AckAndClaimAnswer, ackAndClaim } from '../../src/generated/queue.ts'
import { unitPrefix } from '../../src/runtime/keys.ts'
import { Runner } from '../../src/runtime/runner.ts'

const LEASE_MS = 60_000

export class ObedientWorker {
  /** The payloads of the jobs that it has. */
  readonly took: unknown[] = []
  readonly #runner: Runner
  readonly #keys: string[]
  readonly #channel: string
  readonly #process = randomUUID()
  #timer: NodeJS.Timeout | undefined

  /** Resolves once it waits, or has jobs. */
  static async start(port: number, namespace: string, queue: string): Promise<ObedientWorker> {
    const client = new Redis(port)
    const runner = new Runner(ioredis(client), 5000)
    const worker = new ObedientWorker(runner, namespace, queue)
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

  private constructor(runner: Runner, namespace: string, queue: string) {
    this.#runner = runner
    this.#keys = ackAndClaim.parts.map((part) => `${unitPrefix(namespace, 'queue', queue)}:${part}`)
    this.#channel = `${namespace}:{queue:}:wake`
  }

  async #listen(): Promise<void> {
    const onMessage = (): void => void this.#look().catch(() => undefined)
    await this.#runner.driver.subscribe(`${this.#channel}:${this.#process}`, { onMessage, onGap: onMessage })
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer)
    const { jobs, recheckMs } = await this.#ask()
    this.took.push(...jobs.map(({ payload }) => JSON.parse(payload.toString()) as unknown))
    if (recheckMs > 0) this.#timer = setTimeout(() => void this.#look().catch(() => undefined), recheckMs)
  }

  #ask(): Promise<AckAndClaimAnswer> {
    return this.#runner.run(ackAndClaim, this.#keys, {
      codec: 'json',
      caller: '',
      call: '0',
      limit: 10,
      leaseMs: LEASE_MS,
      worker: `${this.#process}.1`,
      channel: this.#channel,
      sharded: false,
      counted: true,
      acks: [],
    })
  }
}
