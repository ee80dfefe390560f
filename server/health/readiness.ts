// Whether the service can serve: Redis answers within a second and has the scripts, and each prerequisite was met once.

import type { Redis } from 'ioredis'
import { DriverError, type Perilune } from 'perilune'
import { greetingOf } from './greeting.ts'
import { lackOfRights, mayNotRun } from './rights.ts'
import { probesOf, refusalOfWrites } from './writability.ts'

const PATIENCE_MS = 1000

const SILENT = 'Redis does not answer within a second'

/** Reasons why Redis refuses PING, by the first word of its error. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['MISCONF', 'Redis cannot write to its disk, and refuses writes until it can'],
  ['BUSY', 'Redis is busy with a script'],
  ['LOADING', 'Redis is loading its data'],
  ['MASTERDOWN', 'Redis is a replica that has lost its primary'],
  ['NOAUTH', 'Redis wants a password, and REDIS_URL has none, or the default user is switched off'],
  [
    'WRONGPASS',
    'Redis refuses the user name or password of REDIS_URL: they are wrong, or the user is switched off',
  ],
  ['NOPERM', mayNotRun(['PING'])],
])

const CROWDED = 'Redis takes no more connections: it has as many as its maxclients allows'

const LOADING = 'the scripts are not loaded yet'
const FORBIDDEN = 'this user of Redis lacks a right that the scripts need; docs/compatibility.md names them'

/** A condition that must have been met once. */
export interface Prerequisite {
  /** Rejects while the condition is not met; called repeatedly. */
  prepare(): Promise<void>
  /** Why it is not met, in words for the public; without an error it took too long. */
  obstacle(error: unknown): string
}

export class Readiness {
  readonly #client: Redis
  readonly #perilune: Perilune
  readonly #namespace: string
  readonly #needs: readonly Prerequisite[]
  readonly #engineObstacle: () => string | null
  #loaded: Promise<void> | null = null
  #obstacle = LOADING

  /** `engineObstacle` returns the reason of the engine itself for not serving. */
  constructor(
    client: Redis,
    perilune: Perilune,
    needs: readonly Prerequisite[] = [],
    engineObstacle: () => string | null = () => null,
    namespace = 'perilune',
  ) {
    this.#client = client
    this.#namespace = namespace
    this.#perilune = perilune
    this.#needs = needs
    this.#engineObstacle = engineObstacle
    // A server that was away may come back without the scripts.
    client.on('close', () => (this.#loaded = null))
  }

  /** Null if ready, otherwise the reason. Becomes ready by itself once Redis is back. */
  async reason(): Promise<string | null> {
    const trouble = this.#engineObstacle() ?? (await this.#refusal())
    if (trouble !== null) return trouble
    const probes = probesOf(this.#namespace)
    const refusal =
      (await orSilent(refusalOfWrites(this.#client, probes))) ??
      (await orSilent(lackOfRights(this.#client, [...probes.values()])))
    if (refusal !== null) return refusal
    if (!(await inTime(this.#load()))) return this.#obstacle
    const obstacles = await Promise.all(this.#needs.map(obstacleTo))
    return obstacles.find((obstacle) => obstacle !== null) ?? null
  }

  /** Whether Redis answers within a second, without an error. */
  async answers(): Promise<boolean> {
    return (await this.#refusal()) === null
  }

  async #refusal(): Promise<string | null> {
    const { status, options } = this.#client
    let said = ''
    const ending = new AbortController()
    if (status !== 'ready') {
      const greeting = greetingOf(options, ending.signal)
      void greeting.then((words) => (said = words))
    }
    const refusal = await this.#refusalOfPing()
    ending.abort()
    return refusal === SILENT ? (reasonIn(said) ?? SILENT) : refusal
  }

  async #refusalOfPing(): Promise<string | null> {
    let words = SILENT
    const asked = this.#client.ping().catch((error: unknown) => {
      words = REFUSALS.get(String(error instanceof Error && error.message).split(' ', 1)[0] ?? '') ?? SILENT
      throw error
    })
    return (await inTime(asked)) ? null : words
  }

  #load(): Promise<void> {
    const loading = (this.#loaded ??= this.#perilune.preload())
    loading.catch((error: unknown) => {
      if (this.#loaded === loading) this.#loaded = null
      const forbidden = error instanceof DriverError && error.code === 'forbidden'
      this.#obstacle = forbidden ? FORBIDDEN : LOADING
    })
    return loading
  }
}

/** Why the client is not ready. Other refusals may concern this connection only, which has not logged in. */
function reasonIn(said: string): string | null {
  if (said.includes('max number of clients')) return CROWDED
  return said.startsWith('-LOADING') ? (REFUSALS.get('LOADING') ?? null) : null
}

/** The reason that was found in time. */
async function orSilent(asked: Promise<string | null>): Promise<string | null> {
  let reason: string | null = SILENT
  await inTime(asked.then((found) => (reason = found)))
  return reason
}

async function obstacleTo(need: Prerequisite): Promise<string | null> {
  let reason: unknown
  const prepared = need.prepare().catch((error: unknown) => {
    reason = error
    throw error
  })
  return (await inTime(prepared)) ? null : need.obstacle(reason)
}

async function inTime(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), PATIENCE_MS)
  })
  const done = work.then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([done, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
