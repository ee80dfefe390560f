// A random history of one lock or semaphore: four processes that ask, wait, read their letters or lose them, hold,
// extend, release, give up and die, while time passes. What must be true is looked at after each call.

import { faultsOfUnit } from '../audit/audit.ts'
import { type Attempt, believes, forMode, hasToAsk, type Mode, newAttempt } from './line-attempts.ts'
import { faultsAt, faultsOfCall } from './line-checks.ts'
import { LEASE_MS, type LineScripts, LineUnit } from './line-unit.ts'
import type { Kind, LineView } from './line-view.ts'

export interface Terms {
  readonly kind: Kind
  readonly scripts: LineScripts
  readonly luck: () => number
  /** The part of the calls that find the server without memory. */
  readonly fullFor: number
  /** The clock may be set back. */
  readonly stepsBack: boolean
}

const PROCESSES = ['p0', 'p1', 'p2', 'p3']
const SPANS_MS = [1, 20, 100, 300, 500, 1001, 2500, LEASE_MS, LEASE_MS + 1] as const
const MOST_AT_ONCE = 14
/** Rounds in which all that wait must get it, once nothing new comes. */
const MOST_ROUNDS = 40

export class LineHistory {
  readonly #terms: Terms
  readonly #unit: LineUnit
  readonly #attempts: Attempt[] = []
  readonly #alive = new Set(PROCESSES)
  /** Has no line: its attempts poll. */
  readonly #deaf: string
  readonly #log: string[] = []
  readonly #limit: number
  readonly #resizes: boolean
  readonly #barges: boolean
  #made = 0
  /** What had ended by then has ended, wherever the clock is set to. */
  #latestMs = 0

  constructor(terms: Terms) {
    const { luck } = terms
    this.#terms = terms
    this.#unit = new LineUnit(terms.scripts, luck)
    this.#limit = 1 + Math.floor(luck() * 4)
    this.#resizes = luck() < 0.5
    this.#barges = luck() < 0.3
    this.#deaf = luck() < 0.15 ? 'p1' : ''
  }

  /** Returns the number of calls. Throws an error with the whole history when something is not true. */
  async play(): Promise<number> {
    for (const process of this.#alive) await this.#listen(process)
    try {
      const steps = 10 + Math.floor(this.#terms.luck() * 60)
      for (let step = 0; step < steps; step += 1) await this.#step()
      await this.#drain()
    } finally {
      for (const process of this.#alive) await this.#unit.unlisten(process)
      await this.#unit.end()
    }
    return this.#log.length
  }

  async #step(): Promise<void> {
    const { luck } = this.#terms
    const waiting = this.#of('waiting')
    const holding = this.#of('holding').filter((each) => believes(each, this.#unit.nowMs))
    const called = waiting.filter(({ letters }) => letters.length > 0)
    if (called.length > 0 && luck() < 0.5) return this.#read(this.#pick(called))
    const dice = luck()
    if (dice < 0.34) return this.#begin()
    if (dice < 0.5) return this.#each(waiting, (one) => this.#ask(one, true))
    if (dice < 0.68) return this.#each(holding, (one) => this.#release(one))
    if (dice < 0.73) return this.#each(waiting, (one) => this.#abandon(one))
    if (dice < 0.75) return this.#each(this.#of('refused'), (one) => this.#abandon(one))
    if (dice < 0.78) return this.#each(holding, (one) => this.#extend(one))
    if (dice < 0.86) return this.#manage(dice)
    this.#advance(this.#pick(SPANS_MS))
    return undefined
  }

  async #manage(dice: number): Promise<void> {
    if (dice < 0.8) return this.#resize()
    if (dice < 0.82) return this.#serve()
    if (dice < 0.825) return this.#clear()
    return this.#die()
  }

  async #begin(): Promise<void> {
    const { luck, kind } = this.#terms
    if (this.#of('waiting').length + this.#of('holding').length >= MOST_AT_ONCE) return
    const process = this.#pick([...this.#alive])
    const weight = kind === 'semaphore' ? 1 + Math.floor(luck() * Math.min(3, this.#limit)) : 1
    this.#made += 1
    const attempt = newAttempt(`${process}.${this.#made}@${this.#unit.nowMs}`, process, this.#mode(), weight)
    this.#attempts.push(attempt)
    await this.#ask(attempt, luck() < 0.75)
  }

  #mode(): Mode {
    const { luck, kind } = this.#terms
    if (kind === 'semaphore') return 'exclusive'
    if (luck() < 0.4) return 'shared'
    return this.#barges && luck() < 0.5 ? 'barging' : 'exclusive'
  }

  /** A letter in ten is lost. */
  async #read(attempt: Attempt): Promise<void> {
    this.#log.push(`${attempt.id} reads ${attempt.letters[0]}`)
    if (this.#terms.luck() < 0.1) attempt.letters.shift()
    else if (hasToAsk(attempt, LEASE_MS, this.#unit.nowMs)) await this.#ask(attempt, true)
    else this.#expect(faultsAt(await this.#moment(await this.#unit.view())))
  }

  async #ask(attempt: Attempt, waits: boolean): Promise<void> {
    const barging = attempt.mode === 'barging'
    const asked = { waits, confirms: attempt.asks > 0, barging, limit: this.#limit }
    attempt.asks += 1
    const answer = await this.#call(forMode(attempt.mode, 'acquire'), attempt, asked)
    if (answer === null) {
      attempt.state = attempt.state === 'waiting' ? 'refused' : 'over'
    } else if (answer[0] === 'queued') {
      attempt.state = 'waiting'
      attempt.askedMs = this.#unit.nowMs
      if (answer[3] === 1 && this.#terms.kind === 'lock') await this.#serve()
    } else if (answer[0] !== 'granted') {
      attempt.state = 'over'
      if (answer[0] === 'held' && answer[2] === 1) await this.#serve()
    }
  }

  async #release(attempt: Attempt): Promise<void> {
    const answer = await this.#call(forMode(attempt.mode, 'release'), attempt, { token: attempt.token })
    if (answer?.[0] === 'lost') this.#expect([`${attempt.id} held it, and releasing says that it did not`])
    if (answer?.[1] === 1) await this.#serve()
  }

  async #abandon(attempt: Attempt): Promise<void> {
    const barging = attempt.mode === 'barging'
    const answer = await this.#call(forMode(attempt.mode, 'abandon'), attempt, { barging })
    attempt.state = answer === null ? 'refused' : 'over'
    if (answer?.[1] === 1) await this.#serve()
  }

  async #extend(attempt: Attempt): Promise<void> {
    const lengthMs = this.#pick([500, LEASE_MS, 9000])
    const leases = [attempt.token, lengthMs]
    const answer = await this.#call(forMode(attempt.mode, 'extend'), attempt, { leases })
    // Refused: it may have happened.
    if (answer === null) attempt.untilMs = Math.min(attempt.untilMs, this.#unit.nowMs + lengthMs)
    else if (attempt.state === 'holding' && attempt.untilMs === 0)
      this.#expect([`${attempt.id} held it, and it was not extended`])
  }

  async #resize(): Promise<void> {
    if (!this.#resizes || this.#terms.kind === 'lock') return
    const answer = await this.#call('resize', null, { limit: 1 + Math.floor(this.#terms.luck() * 5) })
    if (answer?.[1] === 1) await this.#serve()
  }

  async #serve(): Promise<void> {
    for (let call = 0; call < 5; call += 1) {
      if ((await this.#call('serve', null, {}))?.[1] !== 1) return
    }
  }

  async #clear(): Promise<void> {
    await this.#call('clear', null, {})
  }

  async #die(): Promise<void> {
    if (this.#alive.size < 2) return
    const process = this.#pick([...this.#alive])
    this.#log.push(`${process} dies`)
    this.#alive.delete(process)
    await this.#unit.unlisten(process)
    for (const each of this.#attempts) {
      if (each.process === process && each.state !== 'holding') each.state = 'over'
    }
    this.#made += 1
    this.#alive.add(`q${this.#made}`)
    await this.#listen(`q${this.#made}`)
  }

  #advance(ms: number): void {
    const by = this.#terms.stepsBack && this.#terms.luck() < 0.1 ? -ms : ms
    this.#log.push(`time ${by} ms`)
    this.#unit.nowMs += by
    if (by > 0) return
    // A holder believes by its own clock, which went on.
    for (const each of this.#attempts) if (each.untilMs > 0) each.untilMs += by
  }

  /** Nothing new comes; each that waits asks when it is called, and every two seconds. */
  async #drain(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      for (const one of this.#of('refused')) await this.#abandon(one)
      await this.#releaseAll()
      if (this.#of('waiting').length === 0) return
      for (const isLast of [false, false, false, true]) {
        this.#advance(500)
        for (const one of this.#of('waiting')) {
          const isCalled = one.letters.some((text) => !text.startsWith('first'))
          one.letters = []
          if (one.state === 'waiting' && (isLast || isCalled)) await this.#ask(one, true)
        }
      }
    }
    this.#expect(this.#of('waiting').map(({ id }) => `${id} waits for ever`))
  }

  async #releaseAll(): Promise<void> {
    for (const one of this.#of('holding')) if (believes(one, this.#unit.nowMs)) await this.#release(one)
  }

  /** The answer; null when the server refused the call. */
  async #call(
    name: string,
    attempt: Attempt | null,
    own: Record<string, unknown>,
  ): Promise<readonly unknown[] | null> {
    const { luck, fullFor } = this.#terms
    const { id = '', weight = 1, process = '' } = attempt ?? {}
    const before = await this.#unit.view()
    const full = name !== 'clear' && luck() < fullFor
    const args = { id, weight, listens: process !== this.#deaf, ...own }
    const outcome = await this.#unit.run(name, args, full)
    const { answer, refusal, letters } = outcome
    this.#log.push(
      `${this.#unit.nowMs} ${name}${full ? ' (full)' : ''} ${id} ${JSON.stringify(own)}: ${refusal || JSON.stringify(answer)} letters ${JSON.stringify(letters.map(({ text }) => text))}`,
    )
    for (const { id: to, text } of letters) this.#attempts.find((each) => each.id === to)?.letters.push(text)
    if (attempt !== null) this.#believe(attempt, name, answer)
    if (name === 'clear') this.#forget()
    const moment = await this.#moment(before)
    this.#latestMs = Math.max(this.#latestMs, this.#unit.nowMs)
    const isReached = (of: string): boolean => {
      const at = of.split('.')[0] ?? ''
      return this.#alive.has(at) && at !== this.#deaf
    }
    const isExpected = refusal === '' || full || refusal.startsWith('INVALID id')
    this.#expect([
      ...(isExpected ? [] : [`the server refuses: ${refusal}`]),
      ...faultsOfCall(moment, { name, id, outcome, isReached }),
      ...faultsAt(moment),
      ...(await faultsOfUnit(this.#terms.scripts.client, this.#unit.prefix, this.#latestMs)),
    ])
    return refusal === '' ? answer : null
  }

  /** What its process believes by this answer, or by none. */
  #believe(attempt: Attempt, name: string, answer: readonly unknown[]): void {
    const isOver = name.startsWith('release') || name.startsWith('abandon')
    if (isOver) attempt.state = attempt.state === 'holding' || answer.length > 0 ? 'over' : attempt.state
    if (answer[0] === 'extended') attempt.untilMs = Number([answer[2]].flat()[0])
    if (answer[0] !== 'granted') return
    attempt.state = 'holding'
    attempt.token = String(answer[1])
    attempt.untilMs = Number(answer[2])
  }

  /** A clear ends all leases. */
  #forget(): void {
    for (const each of this.#attempts) {
      if (each.state === 'holding') each.state = 'over'
      each.letters = each.letters.filter((text) => !text.startsWith('granted'))
    }
  }

  async #moment(before: LineView): Promise<Parameters<typeof faultsAt>[0]> {
    return {
      nowMs: this.#unit.nowMs,
      attempts: this.#attempts,
      before,
      after: await this.#unit.view(),
    }
  }

  #expect(faults: readonly string[]): void {
    if (faults.length > 0) throw new Error([...faults, '', ...this.#log].join('\n'))
  }

  async #listen(process: string): Promise<void> {
    if (process !== this.#deaf) await this.#unit.listen(process)
  }

  /** Of processes that are alive. */
  #of(state: Attempt['state']): Attempt[] {
    return this.#attempts.filter((each) => each.state === state && this.#alive.has(each.process))
  }

  async #each(of: readonly Attempt[], run: (one: Attempt) => Promise<void>): Promise<void> {
    if (of.length > 0) await run(this.#pick(of))
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#terms.luck() * items.length)] as Item
  }
}
