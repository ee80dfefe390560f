// Two `npm start` in one clone, repeatedly, any part of which is killed at any moment: there is never a second server
// on the files, and no acknowledged write is lost. PERILUNE_LONG=1 plays a thousand rounds, PERILUNE_ROUNDS=40 that
// many.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { countOf, SEED, tell } from '../proof.ts'
import { until } from '../servers/ask.ts'
import { seeded } from '../soak/random.ts'
import { kill, NpmStart, serversOn } from './npm-start.ts'

const ROUNDS = Number(process.env['PERILUNE_ROUNDS'] ?? countOf(1000, 3))
/** A machine that does other things takes several times as long as one that does nothing else. */
const LIMIT_MS = 60_000 + ROUNDS * 30_000
const MESSAGES = 6
const LOOK_MS = 40
/** Longer than the service takes to end in good order. */
const END_MS = 30_000
const ENDINGS = ['SIGTERM to npm', 'SIGKILL to npm', 'SIGKILL to the service', 'SIGKILL to both'] as const
const STRIKES = ['none', 'none', 'server', 'server', 'service', 'npm'] as const

class Rounds {
  readonly #directory: string
  readonly #random = seeded(SEED)
  readonly #acknowledged = new Map<string, number[]>()
  readonly happened: Record<string, number> = {}
  readonly problems: string[] = []
  #round = 0
  /** In this round. */
  #killedKinds = new Set<string>()

  constructor(directory: string) {
    this.#directory = directory
  }

  get acknowledged(): number {
    return [...this.#acknowledged.values()].flat().length
  }

  async play(): Promise<void> {
    this.#round += 1
    this.#killedKinds = new Set()
    const first = new NpmStart(this.#directory)
    await sleep(this.#random() * 400)
    const both = [first, new NpmStart(this.#directory)]
    if (this.#random() < 0.3) await this.#strikeEarly(both)
    const winner = await this.#untilSettled(both)
    if (winner !== undefined) {
      await this.#verify(winner, [`round-${this.#round - 1}`])
      await this.#post(winner, both)
    }
    await this.#end(both, winner !== undefined)
  }

  /** All that was ever acknowledged is there. */
  async verifyAll(): Promise<void> {
    const last = new NpmStart(this.#directory)
    const winner = await this.#untilSettled([last])
    await this.#verify(winner ?? expect.fail(last.errors), [...this.#acknowledged.keys()])
    kill(last.pid, 'SIGTERM')
    await last.ended
    if (this.servers.length > 0) this.problems.push('SIGTERM to npm left a server at the end')
  }

  get servers(): number[] {
    return serversOn(join(this.#directory, 'redis'))
  }

  look(): void {
    const servers = this.servers
    this.#count('looks')
    if (servers.length > 1) this.#problem(`${servers.length} servers on one file`)
  }

  async #strikeEarly(both: readonly NpmStart[]): Promise<void> {
    await sleep(this.#random() * 2000)
    const [struck] = this.#random() < 0.5 ? both : both.toReversed()
    const kind = this.#pick(['npm', 'service', 'server'] as const)
    const pid = { npm: struck?.pid, service: struck?.service, server: this.servers[0] }[kind]
    this.#killed(kind, 'early', pid)
  }

  /** Resolves to the one that serves; to undefined when none does any more. */
  async #untilSettled(both: readonly NpmStart[]): Promise<NpmStart | undefined> {
    const serving = (): NpmStart | undefined => both.find(({ url }) => url !== undefined)
    const settled = ({ hasEnded, url }: NpmStart): boolean => hasEnded || url !== undefined
    const all = this.#random() < 0.7 // else the second one is on its way yet
    const enough = (): boolean => both.every(settled) || (!all && serving() !== undefined)
    await until('one serves or all have ended', async () => enough(), 90_000)
    this.#count(serving() === undefined ? 'rounds in which none served' : 'rounds in which one served')
    return serving()
  }

  /** Even while a server that it needs is killed: then it continues once that is back. */
  async #post(winner: NpmStart, both: readonly NpmStart[]): Promise<void> {
    const strike = this.#pick(STRIKES)
    const at = Math.floor(this.#random() * MESSAGES)
    for (let message = 0; message < MESSAGES; message += 1) {
      const posting = this.#postOne(winner, message)
      if (message === at) this.#strike(strike, winner)
      await posting
    }
    if (strike === 'server') await this.#untilBack(winner)
    const alive = both.filter(({ url }) => url !== undefined)
    if (alive.length > 1) this.#problem('two services serve')
  }

  #strike(kind: (typeof STRIKES)[number], { pid, service }: NpmStart): void {
    const struck = { none: undefined, server: this.servers[0], service, npm: pid }[kind]
    this.#killed(kind, 'at work', struck)
  }

  async #untilBack(winner: NpmStart): Promise<void> {
    const back = async (): Promise<boolean> => winner.hasEnded || (await this.#postOne(winner, MESSAGES))
    await until('its server is back', back, 60_000)
    if (!winner.hasEnded) this.#count('servers started again')
  }

  async #postOne({ url }: NpmStart, message: number): Promise<boolean> {
    const feed = `round-${this.#round}`
    const answer = await fetch(`${url}/v1/feeds/${feed}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ body: message }),
    }).catch(() => null)
    if (answer?.status !== 201) return false
    this.#acknowledged.set(feed, [...(this.#acknowledged.get(feed) ?? []), message])
    return true
  }

  async #verify({ url }: NpmStart, feeds: readonly string[]): Promise<void> {
    for (const feed of feeds) {
      const expected = this.#acknowledged.get(feed) ?? []
      const answer = await fetch(`${url}/v1/feeds/${feed}/messages?limit=100`).catch(() => null)
      if (answer?.status !== 200) continue // killed before it answered; at the end all is read once more
      const { messages } = (await answer.json()) as { messages: { body: number }[] }
      const found = new Set(messages.map(({ body }) => body))
      const lost = expected.filter((message) => !found.has(message))
      if (lost.length > 0) this.#problem(`${lost.length} of ${feed} lost`)
    }
  }

  #killed(kind: string, when: string, pid: number | undefined): void {
    if (!kill(pid)) return
    this.#killedKinds.add(kind)
    this.#count(`${kind} killed ${when}`)
  }

  async #end(both: readonly NpmStart[], oneServed: boolean): Promise<void> {
    const ending = this.#pick(ENDINGS)
    for (const { pid, service } of both) {
      if (ending === 'SIGTERM to npm') kill(pid, 'SIGTERM')
      const struck = ending === 'SIGKILL to the service' || ending === 'SIGKILL to both' ? [service] : []
      if (ending === 'SIGKILL to npm' || ending === 'SIGKILL to both') struck.push(pid)
      // Without a service there is npm to kill.
      for (const each of struck) kill(each ?? pid)
    }
    await Promise.all(both.map((each) => this.#untilEnded(each)))
    for (const { isRefused, code } of both) {
      if (isRefused) this.#count('starts refused')
      if (isRefused && code !== null && code !== 1) this.#problem(`a refused start ended with ${code}`)
    }
    // A service that was killed leaves its server to the next round.
    const allEnded = oneServed && ending === 'SIGTERM to npm' && !this.#killedKinds.has('service')
    if (allEnded && this.servers.length > 0) this.#problem('SIGTERM to npm left a server')
    this.#count(`rounds ended by ${ending}`)
  }

  async #untilEnded(each: NpmStart): Promise<void> {
    const tooLate = new AbortController()
    const late = sleep(END_MS, 'late', { signal: tooLate.signal }).catch(() => 'in time')
    if ((await Promise.race([each.ended, late])) === 'late')
      this.#problem(`npm start did not end: ${each.errors}`)
    tooLate.abort()
    each.killAll()
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)] as Value
  }

  #problem(what: string): void {
    this.problems.push(`round ${this.#round}: ${what}`)
  }

  #count(what: string): void {
    this.happened[what] = (this.happened[what] ?? 0) + 1
  }
}

test.skipIf(process.platform !== 'linux')(
  'two starts on one directory never run a second server, and nothing acknowledged is lost whichever is killed',
  async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'perilune-two-')))
    const rounds = new Rounds(directory)
    const looking = setInterval(() => rounds.look(), LOOK_MS)
    onTestFinished(() => {
      clearInterval(looking)
      for (const pid of rounds.servers) kill(pid)
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    })

    for (let round = 1; round <= ROUNDS && rounds.problems.length < 10; round += 1) await rounds.play()
    await rounds.verifyAll()

    tell(
      `${ROUNDS} rounds of two npm start, seed ${SEED}: ${rounds.acknowledged} messages acknowledged, ${rounds.problems.length} problems ${JSON.stringify(rounds.happened)}`,
    )
    expect(rounds.problems).toEqual([])
  },
  LIMIT_MS,
)
