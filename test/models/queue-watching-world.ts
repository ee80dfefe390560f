// A queue on the real scripts, and three processes that work on it, in simulated time. A worker looks for jobs when a
// letter wakes it, when an answer asked it to, and when a job of its own is done; at no other time. One process may
// fail.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { Redis } from 'ioredis'
import type { Driver } from '../../src/driver.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { readContract, readVectors } from '../conformance/files.ts'

export const LEASE_MS = 3000

interface Work {
  readonly token: number
  readonly doneAtMs: number
}

interface Worker {
  readonly process: number
  /** As the scripts know it. */
  readonly name: string
  readonly room: number
  readonly work: Map<number, Work>
  waits: boolean
  /** When it should look again. */
  lookAtMs: number
}

const contract = readContract()
const vectors = readVectors('queue')
const KINDS = [
  { room: 1, byLetter: false },
  { room: 2, byLetter: true },
] as const

export class World {
  readonly #driver: Driver
  readonly #listening: Redis
  readonly #prefix = `watching:{queue:${randomUUID()}}`
  readonly #channel = `${this.#prefix}:wake`
  readonly #workers: Worker[] = []
  readonly #letters: string[] = []
  /** Since when, or from when on, a job is available; a job of a live worker: never. */
  readonly #free = new Map<number, number>()
  #failed: number | null = null
  #nowMs = START_US / 1000
  #calls = 0
  #joined = 0

  private constructor(driver: Driver, listening: Redis) {
    this.#driver = driver
    this.#listening = listening
  }

  static async begin(driver: Driver, listening: Redis): Promise<World> {
    const world = new World(driver, listening)
    listening.on('message', world.#onMessage)
    await listening.subscribe(
      ...[0, 1, 2].map((process) => world.#channelOf(process)),
      world.#channelOf('sync'),
    )
    await setTestClock(driver, world.#prefix, START_US)
    return world
  }

  async end(): Promise<void> {
    this.#listening.off('message', this.#onMessage)
    await this.#listening.unsubscribe()
    await this.#run('clear', this.#listeners)
  }

  /** The jobs that a live waiting worker should have by now, with how late they are. */
  overdue(byMs: number): [number: number, lateMs: number][] {
    if (!this.#workers.some((worker) => worker.waits && this.#lives(worker))) return []
    const late = [...this.#free].map(([number, freeMs]): [number, number] => [number, this.#nowMs - freeMs])
    return late.filter(([, lateMs]) => lateMs > byMs)
  }

  async join(process: number, kind: number): Promise<void> {
    const { room, byLetter } = KINDS[kind % KINDS.length] ?? KINDS[0]
    this.#joined += 1
    const name = `${process}.${this.#joined}${byLetter ? `:${LEASE_MS}` : ''}`
    const worker = { process, name, room, work: new Map<number, Work>(), waits: false, lookAtMs: Infinity }
    this.#workers.push(worker)
    if (this.#lives(worker)) await this.#look(worker)
    await this.#readLetters()
  }

  /** One that waits goes, as it does when it closes. */
  async leave(at: number): Promise<void> {
    const waiting = this.#workers.filter((worker) => worker.waits && this.#lives(worker))
    const worker = waiting[at % waiting.length]
    if (worker === undefined) return
    await this.#goAway(worker)
    this.#workers.splice(this.#workers.indexOf(worker), 1)
    await this.#readLetters()
  }

  /** Its connections stay open when it stalls, and are closed when it dies. Only one process fails. */
  async fail(process: number, how: 'dies' | 'stands still'): Promise<void> {
    if (this.#failed !== null) return
    this.#failed = process
    if (how === 'dies') await this.#listening.unsubscribe(this.#channelOf(process))
    for (const worker of this.#workers.filter((each) => each.process === process)) {
      for (const [number, { token }] of worker.work) this.#free.set(number, leaseEnd(token))
    }
  }

  async enqueue(payloads: number): Promise<void> {
    const given = { name: 'mail', payloads: Array.from({ length: payloads }, () => '1') }
    const [, first] = await this.#run('enqueue-alike', { ...this.#listeners, ...given })
    for (let n = 0; n < payloads; n++) this.#free.set(Number(first) + n, this.#nowMs)
    await this.#readLetters()
  }

  async enqueueLater(delayMs: number): Promise<void> {
    const [, first] = await this.#run('enqueue', {
      ...this.#listeners,
      specs: [{ payload: '1', delay_ms: delayMs }],
    })
    this.#free.set(Number(first), this.#nowMs + delayMs)
    await this.#readLetters()
  }

  /** Events in between happen in their order; `see` is called after each moment. */
  async pass(ms: number, see: () => void): Promise<void> {
    const endMs = this.#nowMs + ms
    for (;;) {
      const [worker, atMs] = this.#next()
      if (worker === undefined || atMs > endMs) break
      await this.#setClock(Math.max(atMs, this.#nowMs))
      await this.#look(worker)
      await this.#readLetters()
      see()
    }
    await this.#setClock(endMs)
    see()
  }

  #next(): [Worker | undefined, number] {
    let next: Worker | undefined
    let soonestMs = Infinity
    for (const worker of this.#workers.filter((each) => this.#lives(each))) {
      const doneAtMs = [...worker.work.values()].map((work) => work.doneAtMs)
      const atMs = Math.min(worker.lookAtMs, ...doneAtMs)
      if (atMs < soonestMs) [next, soonestMs] = [worker, atMs]
    }
    return [next, soonestMs]
  }

  /** Done jobs are acked, which makes room for as many. */
  async #look(worker: Worker): Promise<void> {
    const done = [...worker.work].filter(([, { doneAtMs }]) => doneAtMs <= this.#nowMs)
    for (const [number] of done) worker.work.delete(number)
    const limit = worker.room - worker.work.size
    const acks = done.map(([number, { token }]) => ({ number: `${number}`, token }))
    const [endsAtMs, waits, recheckMs, jobs] = await this.#claim({
      ...this.#listeners,
      acks,
      limit,
      lease_ms: LEASE_MS,
      worker: limit > 0 ? worker.name : '',
    })
    for (const [number] of done) this.#free.delete(number)
    for (const [number, token] of jobs) this.#take(worker, number, token, endsAtMs)
    if (limit === 0) return
    worker.waits = waits
    worker.lookAtMs = recheckMs > 0 ? this.#nowMs + recheckMs : Infinity
  }

  #take(worker: Worker, number: number, token: number, endsAtMs: number): void {
    // Each takes another time, and less than the lease.
    worker.work.set(number, { token, doneAtMs: this.#nowMs + 1 + (number % 1500) })
    this.#free.set(number, this.#lives(worker) ? Infinity : endsAtMs)
  }

  /** The fast path first, as the library does. */
  async #claim(given: Record<string, unknown>): Promise<Claimed> {
    const call = { ...given, caller: 'x.0', call: `${++this.#calls}` }
    const quick = await this.#run('ack-and-claim-plain', call)
    if (quick[0] === 'claimed') {
      const [, , endsAtMs, waits, recheckMs, , token, numbers] = quick
      const each = (numbers as string).split(' ').filter((text) => text !== '')
      const jobs = each.map((number, at): [number, number] => [Number(number), Number(token) + at])
      return [Number(endsAtMs), waits === true, Number(recheckMs), jobs]
    }
    const acks = (given['acks'] as object[]).map((ack) => ({ ...ack, result: '' }))
    const [, , endsAtMs, waits, recheckMs, , , , jobs] = await this.#run('ack-and-claim', { ...call, acks })
    const claimed = (jobs as Value[][]).map(([number, token]): [number, number] => [
      Number(number),
      Number(token),
    ])
    return [Number(endsAtMs), waits === true, Number(recheckMs), claimed]
  }

  async #goAway(worker: Worker): Promise<void> {
    worker.waits = false
    worker.lookAtMs = Infinity
    await this.#claim({ ...this.#listeners, acks: [], limit: 0, lease_ms: 0, worker: worker.name })
  }

  /** Letters to a failed process are not read. */
  async #readLetters(): Promise<void> {
    for (;;) {
      await this.#delivered()
      const letter = this.#letters.shift()
      if (letter === undefined) return
      const [word, name, ...numbers] = (letter.split('\n')[0] ?? '').split(' ')
      const worker = this.#workers.find((each) => each.name.split(':')[0] === name)
      if (worker === undefined) continue
      if (word === 'job') this.#read(worker, numbers.map(Number))
      if (!this.#lives(worker)) continue
      if (worker.work.size < worker.room) await this.#look(worker)
      else await this.#goAway(worker)
    }
  }

  #read(worker: Worker, [number = 0, token = 0, endsAtMs = 0]: number[]): void {
    this.#take(worker, number, token, endsAtMs)
  }

  /** Resolves once all that was published has come. */
  async #delivered(): Promise<void> {
    const mark = `sync ${++this.#calls}`
    const came = once(this.#listening, mark)
    await this.#command('PUBLISH', this.#channelOf('sync'), mark)
    await came
  }

  readonly #onMessage = (_channel: string, message: string): void => {
    if (message.startsWith('sync ')) this.#listening.emit(message)
    else this.#letters.push(message)
  }

  #lives({ process }: Worker): boolean {
    return process !== this.#failed
  }

  #channelOf(process: number | string): string {
    return `${this.#channel}:${process}`
  }

  get #listeners() {
    return { channel: this.#channel, sharded: false, counted: true }
  }

  #run(name: string, given: Record<string, unknown>): Promise<Value[]> {
    const full = `queue/${name}`
    return runOperation(this.#driver, contract, full, `${this.#prefix}:`, argumentsOf(vectors, full, given))
  }

  #command(...words: string[]): Promise<unknown> {
    return this.#driver.write({ command: words[0] ?? '', args: words.slice(1) })
  }

  async #setClock(ms: number): Promise<void> {
    this.#nowMs = ms
    await setTestClock(this.#driver, this.#prefix, ms * 1000)
  }
}

type Claimed = [endsAtMs: number, waits: boolean, recheckMs: number, jobs: [number: number, token: number][]]

/** Tokens rise with the time of the claim, in microseconds. */
function leaseEnd(token: number): number {
  return Math.floor(token / 1000) + LEASE_MS
}
