// The result for programs. Fields may be added; those here keep their names and meanings.

import { showAddress } from './address.ts'
import type { Examined } from './examine.ts'
import { type Finding, type State, worstOf } from './finding.ts'
import type { Server } from './server.ts'
import { engineOf } from './versions.ts'

export interface CheckReport extends Finding {
  readonly id: string
  readonly title: string
  /** Whether `unknown` counts as a warning. */
  readonly essential: boolean
  /** Whether the user asked to ignore it. */
  readonly ignored: boolean
}

export interface Report {
  readonly format: 1
  /** Of Perilune. */
  readonly version: string
  /** Without user and password. */
  readonly url: string
  readonly topology: 'single' | 'sentinel' | 'cluster' | null
  readonly servers: readonly {
    readonly address: string
    readonly role: string
    readonly engine: string | null
    readonly version: string | null
  }[]
  readonly state: State
  readonly exitCode: 0 | 1 | 2
  readonly checks: readonly CheckReport[]
}

export function reportOf(
  server: Server,
  examined: readonly Examined[],
  ignored: ReadonlySet<string>,
): Report {
  const checks = examined.map(({ check: { id, title, essential }, finding }) => ({
    id,
    title,
    ...finding,
    essential,
    ignored: ignored.has(id),
  }))
  const counted = checks.filter((check) => !check.ignored)
  return {
    format: 1,
    version: server.options.contract.version,
    url: showAddress(server.options.address),
    topology: server.found.topology,
    servers: server.nodes.map(({ name, role, info }) => {
      const engine = info === null ? null : engineOf(info)
      return { address: name, role, engine: engine?.name ?? null, version: engine?.version ?? null }
    }),
    state: worstOf(counted.filter(matters).map(({ state }) => state)),
    exitCode: exitCodeOf(counted),
    checks,
  }
}

/** What is not known, and does not decide over the safety of data, is as good as fine. */
function matters({ state, essential }: CheckReport): boolean {
  return state !== 'unknown' || essential
}

function exitCodeOf(checks: readonly CheckReport[]): 0 | 1 | 2 {
  const states = checks.filter(matters).map(({ state }) => state)
  if (states.includes('fail')) return 2
  return states.some((state) => state !== 'ok') ? 1 : 0
}
