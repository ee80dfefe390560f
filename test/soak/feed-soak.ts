// Runs a soak: starts the processes, lets trouble happen, and has the checker look at the history.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Window } from './arrange.ts'
import { checkFeedHistory, type Verdict } from './check-feed.ts'
import type { Place } from './connect.ts'
import { type Role, readHistory } from './history.ts'
import { readLeft } from './left.ts'
import { type People, SoakProcess } from './processes.ts'
import { seeded } from './random.ts'
import type { Share } from './work.ts'

/** The information and the actions of a fault. */
export interface Scene {
  /** The time of the load is over. */
  over: AbortSignal
  random: () => number
  feeds: Record<Role, string>
  /** Kills a process of consumers with kill -9 and puts another one in its place. Resolves to how many. */
  replaceConsumers(): Promise<number>
}

export interface Trouble {
  /** When the deployment may lose what it acknowledged. */
  windows: Window[]
  /** How often what went wrong. */
  happened: Record<string, number>
}

export interface SoakOptions {
  /** The address to which each process connects: another proxy for each, for example. */
  placeOf: (process: number) => Place
  forMs: number
  seed: number
  kind?: Share['kind']
  processes?: number
  producersEach?: number
  observersEach?: number
  consumerProcesses?: number
  consumersEach?: number
  /** Runs alongside the load. */
  trouble?: (scene: Scene) => Promise<Trouble>
}

export interface SoakVerdict extends Verdict {
  happened: Trouble['happened']
}

const NO_TROUBLE: Trouble = { windows: [], happened: {} }

export async function soakFeed(options: SoakOptions): Promise<SoakVerdict> {
  const soak = new Soak(options)
  try {
    return await soak.run()
  } finally {
    soak.clearUp()
  }
}

class Soak {
  readonly #options: SoakOptions
  readonly #dir: string
  readonly #feeds: Record<Role, string>
  readonly #producers: SoakProcess[]
  readonly #consumers: SoakProcess[]
  readonly #killed: SoakProcess[] = []

  constructor(options: SoakOptions) {
    const { seed, processes = 4, producersEach = 8, observersEach = 2 } = options
    const { consumerProcesses = 2, consumersEach = 4 } = options
    this.#options = options
    this.#dir = mkdtempSync(join(tmpdir(), 'perilune-soak-'))
    const tag = `${seed}-${process.pid}-${Date.now()}`
    this.#feeds = { watched: `watched-${tag}`, worked: `worked-${tag}` }
    this.#producers = Array.from({ length: processes }, (_, at) =>
      this.#start(at, `a${at}`, { producers: producersEach, observers: observersEach, consumers: 0 }),
    )
    this.#consumers = Array.from({ length: consumerProcesses }, (_, at) =>
      this.#start(at, `b${at}`, { producers: 0, observers: 0, consumers: consumersEach }),
    )
  }

  async run(): Promise<SoakVerdict> {
    const all = [...this.#producers, ...this.#consumers]
    await Promise.all(all.map((each) => each.heard('ready')))
    for (const each of all) each.tell('begin')
    const { windows, happened } = await this.#underTrouble()
    await this.#finish()
    const left = await readLeft(this.#options.placeOf(0), this.#options.kind ?? 'perilune', this.#feeds)
    const started = [...this.#producers, ...this.#consumers, ...this.#killed]
    const lines = started.flatMap(({ history }) => readHistory(history))
    return { ...checkFeedHistory([...lines, ...left], windows), happened }
  }

  clearUp(): void {
    for (const each of [...this.#producers, ...this.#consumers]) each.kill()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #underTrouble(): Promise<Trouble> {
    const over = new AbortController()
    const trouble = this.#options.trouble?.({
      over: over.signal,
      random: seeded(this.#options.seed),
      feeds: this.#feeds,
      replaceConsumers: () => this.#replaceConsumers(),
    })
    const load = Promise.all(this.#producers.map((each) => each.heard('produced'))).then(() => over.abort())
    const [what = NO_TROUBLE] = await Promise.all([trouble, load])
    return what
  }

  async #finish(): Promise<void> {
    const all = [...this.#producers, ...this.#consumers]
    for (const each of all) each.tell('finish')
    await Promise.all(all.map((each) => each.ended()))
  }

  async #replaceConsumers(): Promise<number> {
    const old = this.#consumers.shift()
    if (old === undefined) return 0
    old.kill()
    this.#killed.push(old)
    const next = this.#start(old.at, `b${old.at}.${this.#killed.length}`, { ...old.people })
    this.#consumers.push(next)
    await next.heard('ready')
    next.tell('begin')
    return 1
  }

  #start(at: number, name: string, people: People): SoakProcess {
    const { placeOf, forMs, seed, kind = 'perilune' } = this.#options
    const client = at % 2 === 0 ? 'ioredis' : 'node-redis'
    const salt = Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) % 100_000, 7)
    const common = {
      name,
      client,
      kind,
      forMs,
      place: placeOf(at),
      feeds: this.#feeds,
      sabotage: null,
    } as const
    return new SoakProcess(
      { ...common, ...people, seed: seed + salt * 10_000 },
      at,
      join(this.#dir, `${name}.jsonl`),
    )
  }
}
