// What a check has found, and how findings of several nodes become one.

import type { Node } from './node.ts'

export type State = 'ok' | 'warn' | 'fail' | 'unknown'

export interface Finding {
  readonly state: State
  /** One or more sentences for a user. */
  readonly why: string
  /** How to mend it; null where nothing must be done. */
  readonly mend: string | null
  /** Numbers and names for programs. */
  readonly details: Readonly<Record<string, unknown>>
}

export type Details = Finding['details']

export function ok(why: string, details: Details = {}): Finding {
  return { state: 'ok', why, mend: null, details }
}

export function warn(why: string, mend: string, details: Details = {}): Finding {
  return { state: 'warn', why, mend, details }
}

export function fail(why: string, mend: string, details: Details = {}): Finding {
  return { state: 'fail', why, mend, details }
}

export function unknown(why: string, mend: string | null = null, details: Details = {}): Finding {
  return { state: 'unknown', why, mend, details }
}

/** From the best to the worst. */
const RANKS: readonly State[] = ['ok', 'unknown', 'warn', 'fail']

export function worstOf(states: readonly State[]): State {
  return RANKS[Math.max(0, ...states.map((state) => RANKS.indexOf(state)))] ?? 'ok'
}

/** One finding of several: the worst state, the words of those that are not ok (of all, if all are), every mend. */
export function combine(findings: readonly Finding[], details: Details = {}): Finding {
  const state = worstOf(findings.map((finding) => finding.state))
  const shown = findings
    .filter((finding) => state === 'ok' || finding.state !== 'ok')
    .toSorted((a, b) => RANKS.indexOf(b.state) - RANKS.indexOf(a.state))
  const mends = new Set(shown.flatMap(({ mend }) => mend ?? []))
  return {
    state,
    why: [...new Set(shown.map(({ why }) => why))].join(' '),
    mend: mends.size === 0 ? null : [...mends].join(' '),
    details: Object.assign({}, ...findings.map((finding) => finding.details), details),
  }
}

/** Examines each node; nodes that say the same are named together, and no name is given where there is one node. */
export async function overNodes(
  nodes: readonly Node[],
  examine: (node: Node) => Finding | Promise<Finding>,
): Promise<Finding> {
  const found = await Promise.all(nodes.map(async (node) => ({ node, finding: await examine(node) })))
  const keys = new Set(found.map(({ finding }) => keyOf(finding)))
  const named = [...keys].flatMap((key) => {
    const group = found.filter(({ finding }) => keyOf(finding) === key)
    const [first] = group
    if (first === undefined) return []
    if (nodes.length === 1) return first.finding
    const names =
      group.length === nodes.length ? `All ${nodes.length} nodes` : listed(group.map(({ node }) => node.name))
    return { ...first.finding, why: `${names}: ${first.finding.why}` }
  })
  const details = Object.fromEntries(found.map(({ node, finding }) => [node.name, finding.details]))
  return { ...combine(named), details: { nodes: details } }
}

function keyOf({ state, why }: Finding): string {
  return `${state} ${why}`
}

/** `a, b and 3 more`. */
export function listed(names: readonly string[], most = 4): string {
  if (names.length <= most) return names.join(', ')
  return `${names.slice(0, most).join(', ')} and ${names.length - most} more`
}
