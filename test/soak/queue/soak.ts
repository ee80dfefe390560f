// Runs a soak of the queue: starts the processes, replaces those that die, lets trouble happen, waits until all jobs have
// ended, and has the checkers look at the log.

import { Redis } from 'ioredis'
import { type Perilune, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { seeded } from '../random.ts'
import type { ScriptSabotage } from '../script-sabotages.ts'
import { checkQueue, type QueueVerdict } from './check-queue.ts'
import type { Death } from './death.ts'
import { readEnd } from './end.ts'
import { readLog } from './log.ts'
import { logKeyOf, NAMESPACE, type PartyOrder } from './order.ts'
import { GROUP_LIMIT, GROUPS, type Jobs, QUEUE_LIMIT, type SoakKind } from './plan.ts'
import type { PartyProcess } from './process.ts'
import { pause, Slots } from './slots.ts'

/** A parent in another queue is asked after once a minute. */
const PATIENCE_MS = 150_000

/** What trouble gets to know and to do. */
export interface QueueScene {
  readonly random: () => number
  readonly leaseMs: number
  readonly queue: Queue<Jobs>
  /** How many processes have died. */
  died(): number
  /** Resolves to a process that is at work, once there is one. */
  victim(): Promise<PartyProcess>
}

export interface QueueSoakOptions {
  readonly kind: SoakKind
  readonly port: number
  /** Where each process connects to, its log excepted. */
  readonly portOf?: (at: number) => number
  readonly seed: number
  readonly processes?: number
  /** Jobs that each process enqueues in its life; without it, as many as there are takers. */
  readonly produces?: number
  readonly leaseMs?: number
  /** One in so many processes, not the first, enqueues a job that kills whoever works on it. */
  readonly poison?: number
  readonly sabotage?: ScriptSabotage
  /** At which moment a process dies, by how many were started before it. */
  readonly diesAt?: (started: number) => Death | null
  /** Goes on beside the load; resolves to what happened. */
  readonly trouble?: (scene: QueueScene) => Promise<Happened>
}

export async function soakQueue(options: QueueSoakOptions): Promise<QueueVerdict> {
  const soak = new QueueSoak(options)
  try {
    return await soak.run()
  } finally {
    await soak.clearUp()
  }
}

type Happened = QueueVerdict['happened']

class QueueSoak {
  readonly #options: QueueSoakOptions
  readonly #random: () => number
  readonly #client: Redis
  readonly #redis: Perilune
  readonly #names: PartyOrder['queues']
  #slots: Slots | null = null

  constructor(options: QueueSoakOptions) {
    this.#options = options
    this.#random = seeded(options.seed)
    this.#client = new Redis({ port: options.port, maxRetriesPerRequest: null, retryStrategy: () => 50 })
    this.#client.on('error', () => undefined)
    this.#redis = perilune(ioredis(this.#client), { namespace: NAMESPACE, deadline: '20s' })
    const name = `${options.seed}-${process.pid}-${Date.now()}`
    this.#names = { main: name, after: `${name}-after` }
  }

  async run(): Promise<QueueVerdict> {
    const { trouble, processes = 3, leaseMs = 1000 } = this.#options
    await this.#configure()
    const slots = new Slots(processes, (at, started) => this.#order(at, started), this.#random)
    this.#slots = slots
    const happened = await trouble?.({
      random: this.#random,
      leaseMs,
      queue: this.#open('main'),
      died: () => slots.died,
      victim: () => slots.victim(),
    })
    await this.#rest(slots)
    await slots.close()
    return this.#verdict(slots.killed, { ...happened })
  }

  async clearUp(): Promise<void> {
    this.#slots?.kill()
    await this.#redis.close()
    this.#client.disconnect()
  }

  #open(which: 'main' | 'after'): Queue<Jobs> {
    return this.#redis.queue<Jobs>(this.#names[which])
  }

  get #queues(): ('main' | 'after')[] {
    return this.#options.kind === 'families' ? ['main', 'after'] : ['main']
  }

  /** What is done stays to be looked at, but where jobs go the quick way. */
  async #configure(): Promise<void> {
    const { kind } = this.#options
    if (kind === 'plain') return
    for (const which of this.#queues) await this.#open(which).settings.set({ keep: { count: 1_000_000 } })
    if (kind !== 'limited') return
    const { settings } = this.#open('main')
    await settings.set({ concurrency: QUEUE_LIMIT })
    for (const group of GROUPS) await settings.setGroup(group, { concurrency: GROUP_LIMIT })
  }

  #order(at: number, started: number): PartyOrder {
    const { kind, port, seed, produces = 1_000_000, leaseMs = 1000, poison = 0, ...options } = this.#options
    return {
      by: `p${started}`,
      kind,
      port: options.portOf?.(at) ?? port,
      logPort: port,
      queues: this.#names,
      seed: seed + started * 7919,
      produces,
      poison: poison > 0 && started % poison === poison - 1,
      leaseMs,
      borrows: options.trouble !== undefined,
      prefetch: at % 2 === 0 ? 0 : 4,
      sabotage: options.sabotage?.what ?? null,
      dies: options.diesAt?.(started) ?? null,
    }
  }

  /** Until nothing more is enqueued, and all that was has ended. */
  async #rest(slots: Slots): Promise<void> {
    const { trouble } = this.#options
    // Without trouble each process enqueues all it has.
    await slots.rest(trouble !== undefined)
    // What has not ended by then is a fault.
    const endsAt = performance.now() + (this.#options.sabotage === undefined ? PATIENCE_MS : PATIENCE_MS / 10)
    for (
      let quiet = 0;
      quiet < 3 && performance.now() < endsAt;
      quiet = (await this.#isQuiet()) ? quiet + 1 : 0
    ) {
      await pause()
    }
  }

  async #isQuiet(): Promise<boolean> {
    const pictures = await Promise.all(this.#queues.map((which) => this.#open(which).inspect()))
    return pictures.every(
      ({ ready, scheduled, blocked, claimed, outbox }) =>
        ready + scheduled + blocked + claimed + outbox === 0,
    )
  }

  async #verdict(killed: ReadonlySet<string>, happened: Happened): Promise<QueueVerdict> {
    const lines = await readLog(this.#client, logKeyOf(this.#names.main))
    const isLimited = this.#options.kind === 'limited'
    const prefixOf = (which: 'main' | 'after'): string => `${NAMESPACE}:{queue:${this.#names[which]}}:`
    const ends = await Promise.all(
      this.#queues.map((which) =>
        readEnd(this.#open(which), this.#client, prefixOf(which), isLimited ? GROUPS : []),
      ),
    )
    const limits = isLimited ? { queue: QUEUE_LIMIT, group: GROUP_LIMIT } : null
    return { ...checkQueue({ lines, killed, ends, limits }), happened: { ...happened, died: killed.size } }
  }
}
