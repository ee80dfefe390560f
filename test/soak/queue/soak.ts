// Runs a soak of the queue: starts the processes, replaces those that die, lets trouble happen, waits until all jobs
// have ended, and has the checkers look at the log.

import type { Cluster, Redis } from 'ioredis'
import { type Perilune, perilune, type Queue } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { seeded } from '../random.ts'
import type { ScriptSabotage } from '../script-sabotages.ts'
import { checkQueue, type QueueVerdict } from './check-queue.ts'
import { type Death, nameOf } from './death.ts'
import { readEnd } from './end.ts'
import { type Line, readLog } from './log.ts'
import type { Loss } from './losses.ts'
import { logKeyOf, NAMESPACE, type PartyOrder } from './order.ts'
import { GROUP_LIMIT, GROUPS, hasSteps, type Jobs, QUEUE_LIMIT, type SoakKind } from './plan.ts'
import type { PartyProcess } from './process.ts'
import { onServer, openPlace, type QueuePlace } from './place.ts'
import { pause, Slots } from './slots.ts'

/** A dependency in another queue is asked after once a minute. */
const PATIENCE_MS = 150_000

/** The information and the actions of a fault. */
export interface QueueScene {
  readonly random: () => number
  readonly leaseMs: number
  readonly queue: Queue<Jobs>
  /** How many there are at a time. */
  readonly processes: number
  /** How many processes have died. */
  died(): number
  /** Resolves to a process that is at work, once there is one. */
  victim(): Promise<PartyProcess>
  /** A key of each queue. */
  readonly keys: readonly string[]
  /** The log so far. */
  lines(): Promise<Line[]>
  /** Writes acknowledged then may be lost. */
  mayLose(loss: Loss): void
}

export interface QueueSoakOptions {
  readonly kind: SoakKind
  /** Of the server that has the log. */
  readonly port: number
  /** The address of the queue; without it, next to the log. */
  readonly place?: QueuePlace
  /** The address to which each process connects, except for its log. */
  readonly portOf?: (at: number) => number
  readonly seed: number
  readonly processes?: number
  /** Jobs that each process enqueues in its life; without it, as many as there are takers. */
  readonly produces?: number
  /** How many enqueue in each of them. */
  readonly producers?: number
  readonly leaseMs?: number
  readonly deadlineMs?: number
  /** One in so many processes, not the first, enqueues a job that kills its worker. */
  readonly poison?: number
  readonly sabotage?: ScriptSabotage
  /** At which moment a process dies, by how many were started before it. */
  readonly diesAt?: (started: number) => Death | null
  /** Runs alongside the load; resolves to the events. */
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
  readonly #place: QueuePlace
  readonly #client: Redis | Cluster
  readonly #logClient: Redis | Cluster
  readonly #redis: Perilune
  readonly #names: PartyOrder['queues']
  readonly #losses: Loss[] = []
  #slots: Slots | null = null

  constructor(options: QueueSoakOptions) {
    this.#options = options
    this.#random = seeded(options.seed)
    this.#place = options.place ?? onServer(options.port)
    this.#client = openPlace(this.#place)
    this.#logClient = openPlace(onServer(options.port))
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
      processes,
      queue: this.#open('main'),
      died: () => slots.died,
      victim: () => slots.victim(),
      keys: this.#queues.map((which) => `${this.#prefixOf(which)}meta`),
      lines: () => this.#readLog(),
      mayLose: (loss) => void this.#losses.push(loss),
    })
    await this.#rest(slots)
    await slots.close()
    return this.#verdict(slots.killed, { ...happened, ...this.#deathsOf(slots.diedOfThemselves) })
  }

  async clearUp(): Promise<void> {
    this.#slots?.kill()
    await this.#redis.close()
    this.#client.disconnect()
    this.#logClient.disconnect()
  }

  #open(which: 'main' | 'after'): Queue<Jobs> {
    return this.#redis.queue<Jobs>(this.#names[which])
  }

  get #queues(): ('main' | 'after')[] {
    return hasSteps(this.#options.kind) ? ['main', 'after'] : ['main']
  }

  /** Done jobs are kept to be checked, except when jobs take the fast path. */
  async #configure(): Promise<void> {
    const { kind } = this.#options
    if (kind === 'plain') return
    for (const which of this.#queues)
      await this.#open(which).settings.set({ retention: { count: 1_000_000 } })
    if (kind !== 'limited') return
    const { settings } = this.#open('main')
    await settings.set({ concurrency: QUEUE_LIMIT })
    for (const group of GROUPS) await settings.setGroup(group, { concurrency: GROUP_LIMIT })
  }

  #order(at: number, started: number): PartyOrder {
    const { kind, port, seed, produces = 1_000_000, leaseMs = 1000, poison = 0, ...options } = this.#options
    const nearest = options.portOf?.(at)
    return {
      by: `p${started}`,
      kind,
      place: nearest === undefined ? this.#place : onServer(nearest),
      logPort: port,
      queues: this.#names,
      seed: seed + started * 7919,
      produces,
      producers: options.producers ?? 1,
      poison: poison > 0 && started % poison === poison - 1,
      leaseMs,
      deadlineMs: options.deadlineMs ?? 5000,
      borrows: options.trouble !== undefined,
      // A dependent of a cancelled job would have to be notified.
      cancels: options.trouble !== undefined && kind !== 'families',
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
    // An operation that has not ended by then is a fault.
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
    const lines = await this.#readLog()
    const isLimited = this.#options.kind === 'limited'
    const ends = await Promise.all(
      this.#queues.map((which) =>
        readEnd(this.#open(which), this.#client, this.#prefixOf(which), isLimited ? GROUPS : []),
      ),
    )
    const limits = isLimited ? { queue: QUEUE_LIMIT, group: GROUP_LIMIT } : null
    const losses = { windows: this.#losses, leaseMs: this.#options.leaseMs ?? 1000 }
    const isOrdered = this.#options.trouble === undefined
    const verdict = checkQueue({ lines, killed, ends, limits, losses, isOrdered })
    return { ...verdict, happened: { ...happened, died: killed.size } }
  }

  /** Checks that processes died at the planned moment. */
  #deathsOf(died: readonly string[]): Happened {
    const deaths = died.map((by) => this.#options.diesAt?.(Number(by.slice(1))) ?? null)
    return Object.fromEntries(deaths.flatMap((death) => (death === null ? [] : [[nameOf(death), 1]])))
  }

  #readLog(): Promise<Line[]> {
    return readLog(this.#logClient, logKeyOf(this.#names.main))
  }

  #prefixOf(which: 'main' | 'after'): string {
    return `${NAMESPACE}:{queue:${this.#names[which]}}:`
  }
}
