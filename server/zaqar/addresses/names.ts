// Resolves the names of receivers. The system resolves names in a few threads of the process, waits there as long as a
// name server is silent, and cannot be stopped. So names without an answer would block all others, and reconnects to
// Redis. Therefore the hosts file and the name servers are queried from here, with a timeout, for short names in the
// domains of the system. Only names that these do not know are left to the system, which has other sources: one name at
// a time, so that most of its threads stay free.

import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inHostsFile } from './hosts-file.ts'
import { namesToAsk } from './search-domains.ts'

export interface NamesTerms {
  /** Name servers with their ports. Default: those of the system. */
  readonly servers?: readonly string[]
  /**
   * The names to query, in this order. Default: those of the search domains for the system's servers, and the host for
   * others.
   */
  readonly toAsk?: (host: string) => readonly string[]
  /** The lookup of the system itself. */
  readonly ofSystem?: (host: string) => Promise<LookupAddress[]>
}

/** No answer for the name arrived in time. */
export class SilentNameError extends Error {
  override readonly name = 'SilentNameError'

  constructor(host: string) {
    super(`no name server answered in time for ${host}`)
  }
}

// A query or an answer may get lost; each try waits twice as long as the one before.
const FIRST_TRY_MS = 300
const TRIES = 4
/** How long the addresses of one family wait for those of the other. */
const OTHER_FAMILY_MS = 50
/** Errors of name servers for unknown names, or of a missing one: a silent one gives no error. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])
/** Errors of systemd-resolved for an unknown name without a dot. */
const FAILED = new Set(['ESERVFAIL', 'EREFUSED'])

const lookUp = promisify(lookup)

interface Finding {
  readonly found: Promise<LookupAddress[]>
  /** Aborts when no caller waits for it. */
  readonly ending: AbortController
  waiting: number
}

export class Names {
  readonly #servers: readonly string[] | undefined
  readonly #toAsk: (host: string) => readonly string[]
  readonly #ofSystem: (host: string) => Promise<LookupAddress[]>
  /** By host: a batch of letters shares one lookup. */
  readonly #findings = new Map<string, Finding>()
  /** The last query to the system, after all before it. */
  #asked: Promise<unknown> = Promise.resolve()

  constructor({ servers, toAsk, ofSystem }: NamesTerms = {}) {
    this.#servers = servers
    this.#toAsk = toAsk ?? (servers === undefined ? namesToAsk : (host) => [host])
    this.#ofSystem = ofSystem ?? ((host) => lookUp(host, { all: true }))
  }

  /** At least one address. Throws SilentNameError after `patienceMs`, or the reason at once if there is none. */
  async addressesOf(host: string, patienceMs: number): Promise<LookupAddress[]> {
    const noted = inHostsFile(host)
    if (noted.length > 0) return noted
    const over = new AbortController()
    const silence = sleep(patienceMs, undefined, { signal: over.signal, ref: false }).then(() => {
      throw new SilentNameError(host)
    })
    const finding = this.#findings.get(host) ?? this.#begin(host)
    finding.waiting += 1
    try {
      return await Promise.race([finding.found, silence])
    } finally {
      over.abort()
      silence.catch(() => undefined)
      finding.waiting -= 1
      if (finding.waiting === 0) this.#end(host, finding)
    }
  }

  #begin(host: string): Finding {
    const ending = new AbortController()
    const finding = { found: this.#find(host, ending.signal), ending, waiting: 0 }
    this.#findings.set(host, finding)
    return finding
  }

  /** Results are not cached: they may change. */
  #end(host: string, finding: Finding): void {
    finding.ending.abort()
    finding.found.catch(() => undefined)
    if (this.#findings.get(host) === finding) this.#findings.delete(host)
  }

  async #find(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const failures: unknown[] = []
    for (const name of this.#toAsk(host)) {
      try {
        return await this.#askServers(name, signal)
      } catch (error) {
        if (signal.aborted) throw error
        failures.push(error)
      }
    }
    const failure = failures.find((error) => !isUnknown(host, codeOf(error)))
    if (failure !== undefined) throw failure
    return this.#askSystem(host, signal)
  }

  async #askServers(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    // A new resolver reads the present configuration of the system.
    const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES })
    if (this.#servers !== undefined) resolver.setServers(this.#servers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    const asked = [
      resolver.resolve4(host).then((all) => all.map((address) => ({ address, family: 4 }))),
      resolver.resolve6(host).then((all) => all.map((address) => ({ address, family: 6 }))),
    ]
    const all = Promise.allSettled(asked)
    const first = await Promise.any(asked).catch(async () => {
      throw worst(await all)
    })
    const settled = await Promise.race([all, sleep(OTHER_FAMILY_MS, null, { ref: false })])
    return settled?.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])) ?? first
  }

  /** In turn. Lookups without a caller are skipped; the running one cannot be stopped, and is awaited. */
  #askSystem(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const answer = this.#asked.then(() => (signal.aborted ? [] : this.#ofSystem(host)))
    this.#asked = answer.catch(() => undefined)
    return answer
  }
}

/** The one of this process: all its lookups share the threads of the system. */
export const names: Names = new Names()

/** A missing answer takes precedence over an unknown name. */
function worst(settled: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons: unknown[] = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  return reasons.find((reason) => !UNKNOWN.has(codeOf(reason))) ?? reasons[0]
}

function isUnknown(host: string, code: string): boolean {
  return UNKNOWN.has(code) || (FAILED.has(code) && !host.includes('.'))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
