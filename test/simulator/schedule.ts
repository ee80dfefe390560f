// One random schedule: increments, flushes and reads of several processes, of which some die, over a Redis that
// crashes and a database whose answers get lost; then rest, and the books are checked.
//
// Each increment adds a digit of its own in base 4, so the sum in the database tells of each whether it is there not
// at all, once, or more often.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Driver } from '../../src/driver.ts'
import { type Crash, Database, type Rule, sinkOf } from './database.ts'
import { Process } from './process.ts'
import { dice, Stage } from './stage.ts'
import { Store } from './store.ts'

const IDS = ['a', 'b'] as const
/** Digits of base 4 that a safe integer has. */
const MOST_INCREMENTS = 24
const STEPS = 70
/** What a schedule needs to come to rest is some sixty. */
const MOST_PASSES_AT_REST = 300
/** Milliseconds, more than the deadline of any call. */
const MOST_IDLE = 30_000

export interface Happened {
  increments: number
  killed: number
  crashes: number
  wipes: number
  oldCopies: number
  sqlCrashes: number
  lost: number
}

/** Before anything has. */
export const NOTHING: Readonly<Happened> = {
  increments: 0,
  killed: 0,
  crashes: 0,
  wipes: 0,
  oldCopies: 0,
  sqlCrashes: 0,
  lost: 0,
}

export interface Verdict {
  readonly faults: readonly string[]
  /** What happened in which order, for people. */
  readonly story: readonly string[]
  readonly happened: Happened
}

interface Counted {
  readonly id: string
  readonly digit: number
  readonly owner: string
  acked: number | null
  /** It may have been counted and lost before its answer came, or nobody ever got that. */
  isForgiven: boolean
  /** How often it may be in the database, at rest. */
  least: 0 | 1
  most: 1 | 2
}

export interface Place {
  readonly client: Redis
  readonly driver: Driver
  readonly namespace: string
  readonly without: Rule | null
}

export async function playSchedule(place: Place, seed: number): Promise<Verdict> {
  const schedule = new Schedule(place, seed)
  return schedule.play()
}

/** What was begun does not end. */
class Restless extends Error {}

class Schedule {
  readonly #place: Place
  readonly #roll: (sides: number) => number
  readonly #stage = new Stage()
  readonly #database: Database
  readonly #store: Store
  readonly #increments: Counted[] = []
  readonly #happened: Happened = { ...NOTHING }
  readonly #settling = new Set<() => void>()
  readonly #story: string[] = []
  #processes: Process[] = []
  #born = 0
  #underWay = 0
  #step = 0
  #calm = false
  /** Since calm came. */
  #passes = 0
  /** Since something waited for its turn. */
  #idle = 0
  /** Redis came back with an old copy, and nobody has noticed yet. */
  #isOld = false

  constructor(place: Place, seed: number) {
    this.#place = place
    this.#roll = dice(seed)
    this.#database = new Database(place.without)
    this.#processes = [this.#bear(), this.#bear()]
    this.#store = new Store(place.client, this.#processes[0]?.beginning ?? '')
  }

  async play(): Promise<Verdict> {
    await this.#store.clear()
    await Promise.all(this.#processes.map((each) => each.learn()))
    for (this.#step = 1; this.#step <= STEPS; this.#step++) await this.#act()
    this.#calm = true
    const faults = await this.#judge()
    await this.#store.clear()
    return { faults, story: this.#story, happened: this.#happened }
  }

  async #judge(): Promise<string[]> {
    try {
      await this.#rest()
      return await this.#check()
    } catch (error) {
      if (error instanceof Restless) return [error.message]
      throw error
    }
  }

  async #act(): Promise<void> {
    const roll = this.#roll(100)
    if (roll < 18) this.#increment()
    else if (roll < 30) this.#flush()
    else if (roll < 34) this.#get()
    else if (roll < 40) await this.#fsync()
    else if (roll < 41) await this.#kill()
    else if (roll < 42) await this.#crash()
    else await this.#pass()
  }

  #tell(what: string): void {
    this.#story.push(`${this.#step} ${what}`)
  }

  #bear(): Process {
    this.#born += 1
    const owner = `p${this.#born}`
    const losesAnswer = (): boolean => !this.#calm && this.#roll(20) === 0
    const { driver, namespace, without } = this.#place
    const sink = sinkOf(this.#database, this.#stage, owner, () => this.#crashOfSql())
    const settle = without === 'settle' ? null : () => this.#settled()
    return new Process({
      owner,
      namespace,
      driver,
      sink,
      stage: this.#stage,
      settle,
      losesAnswer,
      onAnswer: (answer) => this.#hear(answer),
    })
  }

  #crashOfSql(): Crash {
    if (this.#calm) return null
    const roll = this.#roll(20)
    if (roll > 1) return null
    this.#happened.sqlCrashes += 1
    return roll === 0 ? 'before' : 'after'
  }

  #hear(answer: unknown): void {
    this.#tell(`  ${JSON.stringify(answer)}`)
    if (!Array.isArray(answer) || answer[0] !== 'begun') return
    this.#isOld = false
    if (Number(answer[2]) > 0) this.#forgiveOpen()
  }

  #forgiveOpen(owner?: string): void {
    for (const each of this.#increments) {
      if (each.acked === null && (owner === undefined || each.owner === owner)) each.isForgiven = true
    }
  }

  #any(): Process {
    return this.#processes[this.#roll(this.#processes.length)] as Process
  }

  /** What it starts ends some time, unless its process dies. */
  #start(work: Promise<unknown>, then: () => void): void {
    this.#underWay += 1
    work.then(then, () => undefined).finally(() => (this.#underWay -= 1))
  }

  #increment(): void {
    if (this.#increments.length === MOST_INCREMENTS) return
    const process = this.#any()
    const id = IDS[this.#roll(2)] as string
    const digit = this.#increments.length
    const mine: Counted = {
      id,
      digit,
      owner: process.owner,
      acked: null,
      isForgiven: false,
      least: 0,
      most: 1,
    }
    this.#increments.push(mine)
    this.#happened.increments += 1
    this.#start(process.increment(id, 4 ** digit), () => {
      mine.acked = this.#step
      this.#tell(`increment ${digit} of ${id} is acked`)
      mine.least = this.#isOld || mine.isForgiven ? 0 : 1
    })
  }

  #flush(): void {
    const process = this.#any()
    if (!process.isFlushing) this.#start(process.flush(), () => undefined)
  }

  #get(): void {
    this.#start(this.#any().get(IDS[this.#roll(2)] as string), () => undefined)
  }

  async #pass(): Promise<void> {
    if (this.#stage.waiting === 0) return
    const gate = this.#stage.take(this.#roll(this.#stage.waiting))
    this.#tell(`${gate.owner} ${gate.what}`)
    await gate.pass()
  }

  #settled(): Promise<void> {
    return new Promise((resolve) => this.#settling.add(resolve))
  }

  async #fsync(): Promise<void> {
    const waiting = [...this.#settling]
    this.#tell('Redis writes to its disk')
    await this.#store.fsync(this.#step, this.#isOld)
    for (const resolve of waiting) {
      this.#settling.delete(resolve)
      resolve()
    }
    await new Promise(setImmediate)
  }

  /** What it has sent may still arrive. */
  async #kill(): Promise<void> {
    const victim = this.#any()
    this.#forgiveOpen(victim.owner)
    this.#happened.killed += 1
    this.#tell(`${victim.owner} dies`)
    this.#processes = this.#processes.map((each) => (each === victim ? this.#bear() : each))
    for (const gate of this.#stage.takeAllOf(victim.owner)) {
      if (this.#roll(2) === 0) await gate.pass()
      else gate.drop(new Error('the process was killed'))
    }
    await Promise.all(this.#processes.map((each) => each.learn()))
  }

  async #crash(): Promise<void> {
    const copies = this.#store.copies
    const kind = this.#roll(4)
    if (kind < 2) return this.#restart(copies.length - 1)
    if (kind === 2) return this.#wipe()
    if (copies.length > 1) await this.#comeBackOld(this.#roll(copies.length - 1))
  }

  async #restart(at: number): Promise<void> {
    const copy = this.#store.copies[at]
    if (!copy?.dumps[0]) return
    this.#happened.crashes += 1
    this.#tell(`Redis restarts with what it had at ${copy.step}`)
    for (const each of this.#increments) {
      if (each.acked !== null && each.acked > copy.step) each.least = 0
    }
    this.#isOld = copy.isOld
    await this.#store.restore(copy)
  }

  async #wipe(): Promise<void> {
    this.#happened.wipes += 1
    this.#tell('Redis loses everything')
    this.#forget()
    this.#isOld = false
    this.#store.copies.splice(0, Infinity, { step: this.#step, dumps: [], isOld: false })
    await this.#store.clear()
  }

  async #comeBackOld(at: number): Promise<void> {
    const copy = this.#store.copies[at]
    if (copy === undefined) return
    if (!copy.dumps[0]) return this.#wipe()
    this.#happened.oldCopies += 1
    this.#tell(`Redis comes back with a copy of ${copy.step}`)
    this.#forget()
    this.#isOld = true
    this.#store.copies.splice(at, Infinity, { ...copy, isOld: true })
    await this.#store.restore(copy)
  }

  /** Of calls that are under way the first attempt is not remembered any more, and its increment may be flushed. */
  #forget(): void {
    for (const each of this.#increments) {
      each.least = 0
      if (each.acked === null) each.most = 2
    }
    this.#forgiveOpen()
  }

  async #rest(): Promise<void> {
    await this.#finish()
    for (let turn = 0; turn < 3; turn++) {
      this.#start(this.#any().flush(), () => undefined)
      await this.#finish()
    }
  }

  /** Lets all that is under way end. Throws when it never does. */
  async #finish(): Promise<void> {
    while (this.#underWay > 0) {
      if (this.#settling.size > 0) await this.#fsync()
      if (this.#idle > MOST_IDLE || this.#passes > MOST_PASSES_AT_REST) throw this.#giveUp()
      if (this.#stage.waiting === 0) {
        this.#idle += 1
        await sleep(1)
      } else {
        this.#idle = 0
        this.#passes += 1
        await this.#pass()
      }
    }
  }

  #giveUp(): Error {
    for (const { owner } of this.#processes) {
      for (const gate of this.#stage.takeAllOf(owner)) gate.drop(new Error('the schedule was given up'))
    }
    return new Restless(
      `${this.#underWay} calls do not end, after ${this.#passes} steps and ${this.#idle} ms without one`,
    )
  }

  async #check(): Promise<string[]> {
    const faults: string[] = []
    for (const { id, digit, least, most } of this.#increments) {
      const times = Number(((this.#database.values.get(id) ?? 0n) >> BigInt(2 * digit)) & 3n)
      if (times === 0) this.#happened.lost += 1
      if (times < least) faults.push(`an acked increment is lost: ${digit}`)
      if (times > most) faults.push(`an increment is there ${times} times: ${digit}`)
    }
    for (const id of IDS) {
      let shown: bigint | null = null
      this.#start(
        this.#any()
          .get(id)
          .then((value) => (shown = value)),
        () => undefined,
      )
      await this.#finish()
      const stored = this.#database.values.get(id) ?? 0n
      // A batch of a life that Redis has forgotten may land after the value was loaded.
      const isLate = this.#happened.wipes + this.#happened.oldCopies > 0 && Number(shown) < stored
      if (shown !== stored && !isLate) faults.push(`${id} shows ${shown} and is ${stored}`)
    }
    return faults
  }
}
