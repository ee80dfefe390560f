// Names of receivers as addresses. The system looks names up in a few threads of the process, waits there for as long as a name
// server is silent, and cannot be stopped: names of which nobody tells anything would keep all others waiting, and the way back to
// Redis. So the hosts file and the name servers are asked from here, in time, for short names in the domains of the system. Only
// what these do not know is left to the system, which knows more: one name at a time, so that most of its threads stay free.

import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { inHostsFile } from './hosts-file.ts'
import { namesToAsk } from './search-domains.ts'

export interface NamesTerms {
  /** Name servers with their ports; by default those of the system. */
  readonly servers?: readonly string[]
  /** What they are asked for, in turn; by default what the system says of its own servers, and of others the host. */
  readonly toAsk?: (host: string) => readonly string[]
  /** What the system itself knows. */
  readonly ofSystem?: (host: string) => Promise<LookupAddress[]>
}

/** Nothing was told of the name in time. */
export class SilentNameError extends Error {
  override readonly name = 'SilentNameError'

  constructor(host: string) {
    super(`no name server told anything of ${host} in time`)
  }
}

// A question or an answer may get lost; each try takes twice as long as the one before.
const FIRST_TRY_MS = 300
const TRIES = 4
/** So long the addresses of one family wait for those of the other. */
const OTHER_FAMILY_MS = 50
/** What a name server says of names that it does not know, or where there is none: a silent one says nothing. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])
/** What systemd-resolved says of a name without a dot that it does not know. */
const FAILED = new Set(['ESERVFAIL', 'EREFUSED'])

const lookUp = promisify(lookup)

interface Finding {
  readonly found: Promise<LookupAddress[]>
  /** Aborts when nobody waits for it. */
  readonly ending: AbortController
  waiting: number
}

export class Names {
  readonly #servers: readonly string[] | undefined
  readonly #toAsk: (host: string) => readonly string[]
  readonly #ofSystem: (host: string) => Promise<LookupAddress[]>
  /** By host: a batch of letters asks once. */
  readonly #findings = new Map<string, Finding>()
  /** The last question to the system, and with it all before. */
  #asked: Promise<unknown> = Promise.resolve()

  constructor({ servers, toAsk, ofSystem }: NamesTerms = {}) {
    this.#servers = servers
    this.#toAsk = toAsk ?? (servers === undefined ? namesToAsk : (host) => [host])
    this.#ofSystem = ofSystem ?? ((host) => lookUp(host, { all: true }))
  }

  /** At least one address. Throws SilentNameError after so long, or at once why there is none. */
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

  /** What was found once is asked for again: it may change. */
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
    // A new one knows what the system's configuration says by now.
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
    const told = await Promise.race([all, sleep(OTHER_FAMILY_MS, null, { ref: false })])
    return told?.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])) ?? first
  }

  /** In turn. Who waits no more is passed over; what the system is at cannot be stopped, and is waited for. */
  #askSystem(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
    const answer = this.#asked.then(() => (signal.aborted ? [] : this.#ofSystem(host)))
    this.#asked = answer.catch(() => undefined)
    return answer
  }
}

/** Those of this process: all that look names up share its threads. */
export const names: Names = new Names()

/** One that tells nothing of the name, before one that says that it is unknown. */
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
