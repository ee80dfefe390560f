// One random schedule: increments, flushes and reads of several processes, of which some die, over a Redis that
// crashes and a database whose answers get lost; then rest, and the books are checked.
//
// Each increment adds a digit of its own in base 4, so the sum in the database tells of each whether it is there not
// at all, once, or more often.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Driver } from '../../src/driver.ts'
import { Books } from './books.ts'
import { type Crash, Database, sinkOf } from './database.ts'
import {
  arrivalsOf,
  faultsOf,
  type Happened,
  hasForgotten,
  NOTHING,
  Restless,
  type Verdict,
} from './happened.ts'
import { ODDS, type Steps } from './odds.ts'
import { Process } from './process.ts'
import type { Rule } from './rules.ts'
import { dice, Stage } from './stage.ts'
import { Store } from './store.ts'

const IDS = ['a', 'b'] as const
/** Those that come while a flush is to end. */
const FLOODED = ['c', 'd', 'e', 'f'] as const
/** Digits of base 4 that a safe integer has. */
const MOST_INCREMENTS = 24
const STEPS = 120
/** A schedule needs about sixty passes to come to rest. */
const MOST_PASSES_AT_REST = 300
/** One flush takes up to a hundred passes. */
const MOST_PASSES_OF_A_FLUSH = 400
/** Milliseconds, more than the deadline of any call. */
const MOST_IDLE = 30_000

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

class Schedule {
  readonly #place: Place
  readonly #roll: (sides: number) => number
  readonly #stage = new Stage()
  readonly #database: Database
  readonly #store: Store
  readonly #books = new Books()
  readonly #happened: Happened = { ...NOTHING }
  readonly #settling = new Set<() => void>()
  readonly #story: string[] = []
  readonly #seen: string[] = []
  #processes: Process[] = []
  #born = 0
  #underWay = 0
  #step = 0
  #calm = false
  /** Since calm came. */
  #passes = 0
  /** Since something waited for its turn. */
  #idle = 0
  /** Redis came back with an old copy, and no process has noticed yet. */
  #isOld = false
  /** The same of the database. */
  #isSqlOld = false
  readonly #isFlooded: boolean
  /** Whether writes of batches reach the database late, so that it may have changed meanwhile. */
  readonly #isStalling: boolean

  constructor(place: Place, seed: number) {
    this.#place = place
    this.#roll = dice(seed)
    this.#isFlooded = place.without === 'setting aside' || this.#roll(8) === 0
    this.#isStalling = place.without === 'closing' || this.#roll(4) === 0
    this.#database = new Database(place.without)
    this.#processes = Array.from({ length: this.#isStalling ? 4 : 2 + this.#roll(2) }, () => this.#bear())
    this.#store = new Store(place.client, this.#processes[0]?.beginning ?? '')
  }

  async play(): Promise<Verdict> {
    await this.#store.clear()
    await Promise.all(this.#processes.map((each) => each.learn()))
    for (this.#step = 1; this.#step <= STEPS; this.#step++) await this.#act()
    await this.#look()
    this.#calm = true
    const faults = await this.#judge()
    await this.#store.clear()
    return { faults: [...this.#seen, ...faults], story: this.#story, happened: this.#happened }
  }

  /** The shown value is that of the database plus the unflushed increments, even while a flush is half done. */
  async #look(): Promise<void> {
    if (this.#isOld || this.#isSqlOld) return
    const { epoch, seq, shown } = await this.#store.look()
    const isIn = (this.#database.read(epoch, []).seq ?? 0) >= seq
    for (const { id, value, waiting, sealed } of shown) {
      const right = (this.#database.values.get(id) ?? 0n) + waiting + (isIn ? 0n : sealed)
      if (value === right || this.#isLate(value, right)) continue
      this.#seen.push(`${id} shows ${value} and is ${right} at ${this.#step}`)
      this.#tell(this.#seen.at(-1) ?? '')
    }
  }

  /** A batch of an era that Redis has lost may arrive after the value was loaded. */
  #isLate(shown: bigint, right: bigint): boolean {
    return hasForgotten(this.#happened) && shown < right
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
    let roll = this.#roll(400)
    for (const step of Object.keys(ODDS) as (keyof Steps)[]) {
      roll -= ODDS[step]
      if (roll < 0) return this.#steps[step]()
    }
    await this.#pass()
  }

  readonly #steps: Readonly<Record<keyof Steps, () => void | Promise<void>>> = {
    increment: () => this.#increment(),
    flush: () => this.#flush(),
    get: () => this.#get(),
    reconcile: () => this.#reconcile(),
    age: () => this.#age(),
    fsync: () => this.#fsync(),
    kill: () => this.#kill(),
    restart: () => this.#restart(this.#store.copies.length - 1),
    wipe: () => this.#wipe(),
    comeBackOld: () => this.#comeBackOld(),
    sqlComesBackOld: () => this.#sqlComesBackOld(),
  }

  #tell(what: string): void {
    this.#story.push(`${this.#step} ${what}`)
  }

  #bear(): Process {
    this.#born += 1
    const owner = `p${this.#born}`
    const { driver, namespace, without } = this.#place
    const losesAnswer = (): boolean => !this.#calm && this.#roll(20) === 0
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
    this.#isSqlOld = false
    if (Number(answer[2]) > 0) this.#books.forgiveOpen()
  }

  #any(): Process {
    return this.#processes[this.#roll(this.#processes.length)] as Process
  }

  /** An operation that it starts ends some time, unless its process dies. */
  #start(work: Promise<unknown>, then: () => void): void {
    this.#underWay += 1
    work.then(then, () => undefined).finally(() => (this.#underWay -= 1))
  }

  #increment(): void {
    if (this.#books.increments.length === MOST_INCREMENTS) return
    const process = this.#any()
    const id = IDS[this.#roll(2)] as string
    const mine = this.#books.begin(process.owner, id)
    const { digit } = mine
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

  #reconcile(): void {
    this.#start(this.#any().reconcile(IDS[this.#roll(2)] as string), () => undefined)
  }

  async #pass(): Promise<void> {
    if (this.#stage.waiting === 0) return
    const at = this.#roll(this.#stage.waiting)
    if (this.#isStalling && !this.#calm && this.#stage.whatAt(at) === 'sql apply' && this.#roll(8) > 0) return
    const gate = this.#stage.take(at)
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

  async #age(): Promise<void> {
    await this.#look()
    this.#happened.aged += 1
    this.#tell('the time of clean values is over')
    await this.#store.age()
  }

  /** Commands that it has sent may still arrive. */
  async #kill(): Promise<void> {
    const victim = this.#any()
    this.#books.forgiveOpen(victim.owner)
    this.#happened.killed += 1
    this.#tell(`${victim.owner} dies`)
    this.#processes = this.#processes.map((each) => (each === victim ? this.#bear() : each))
    for (const gate of this.#stage.takeAllOf(victim.owner)) {
      if (this.#roll(2) === 0) await gate.pass()
      else gate.drop(new Error('the process was killed'))
    }
    await Promise.all(this.#processes.map((each) => each.learn()))
  }

  async #restart(at: number): Promise<void> {
    const copy = this.#store.copies[at]
    if (!copy?.dumps[0]) return
    this.#happened.crashes += 1
    this.#tell(`Redis restarts with what it had at ${copy.step}`)
    this.#books.forgetSince(copy.step)
    this.#isOld = copy.isOld
    // What Redis had may come from the epoch that the database has left behind.
    this.#isSqlOld ||= this.#happened.oldSqlCopies > 0
    await this.#store.restore(copy)
  }

  async #wipe(): Promise<void> {
    this.#happened.wipes += 1
    this.#tell('Redis loses everything')
    this.#books.forgetAll()
    this.#isOld = false
    this.#store.copies.splice(0, Infinity, { step: this.#step, dumps: [], isOld: false })
    await this.#store.clear()
  }

  async #comeBackOld(): Promise<void> {
    const { copies } = this.#store
    if (copies.length === 1 || this.#happened.oldSqlCopies > 0) return
    const at = this.#roll(copies.length - 1)
    const copy = copies[at]
    if (copy === undefined) return
    if (!copy.dumps[0]) return this.#wipe()
    this.#happened.oldCopies += 1
    this.#tell(`Redis comes back with a copy of ${copy.step}`)
    this.#books.forgetAll()
    this.#isOld = true
    this.#store.copies.splice(at, Infinity, { ...copy, isOld: true })
    await this.#store.restore(copy)
  }

  /** Once in a schedule, and not in one with an old copy of Redis. */
  #sqlComesBackOld(): void {
    if (this.#happened.oldSqlCopies + this.#happened.oldCopies > 0) return
    const goBack = (): boolean => this.#database.goBack(1 + this.#roll(3))
    if (!this.#books.loseWith(goBack, () => this.#database.values)) return
    this.#happened.oldSqlCopies += 1
    this.#tell('the database comes back with an older copy')
    this.#isSqlOld = true
  }

  /** A flush ends with what was there when it began, though each step of it brings more. */
  async #flood(): Promise<void> {
    const [flushing, other] = this.#processes as [Process, Process]
    let isOver = false
    this.#start(flushing.flush(), () => (isOver = true))
    for (let passes = 0; !isOver; passes++) {
      if (passes > MOST_PASSES_OF_A_FLUSH) {
        this.#seen.push(`a flush has not ended after ${passes} steps, for more comes all the time`)
        return
      }
      const id = FLOODED[this.#roll(FLOODED.length)] as string
      this.#start(other.increment(id, 1), () => undefined)
      if (this.#settling.size > 0) await this.#fsync()
      await this.#passSoon()
    }
  }

  async #rest(): Promise<void> {
    await this.#finish()
    if (this.#isFlooded) await this.#flood()
    this.#passes = 0
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
      await this.#passSoon()
    }
  }

  async #passSoon(): Promise<void> {
    if (this.#stage.waiting === 0) {
      this.#idle += 1
      await sleep(1)
    } else {
      this.#idle = 0
      this.#passes += 1
      await this.#pass()
    }
  }

  #giveUp(): Error {
    for (const { owner } of this.#processes) {
      for (const gate of this.#stage.takeAllOf(owner)) gate.drop(new Error('the schedule was given up'))
    }
    return new Restless(this.#underWay, this.#passes, this.#idle)
  }

  async #check(): Promise<string[]> {
    const faults: string[] = []
    for (const each of this.#books.increments) {
      const times = arrivalsOf(each, this.#database.values)
      if (times === 0) this.#happened.lost += 1
      faults.push(...faultsOf(each, times))
    }
    for (const id of IDS) {
      let shown: bigint | null = null
      const getting = this.#any().get(id)
      this.#start(
        getting.then((value) => (shown = value)),
        () => undefined,
      )
      await this.#finish()
      const stored = this.#database.values.get(id) ?? 0n
      const isLate = shown !== null && this.#isLate(shown, stored)
      if (shown !== stored && !isLate && !this.#isSqlOld) faults.push(`${id} shows ${shown} and is ${stored}`)
    }
    return faults
  }
}
