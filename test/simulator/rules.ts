// Rules of the protocol, each of which can be taken away, to see that the simulation notices.

import type { Driver } from '../../src/driver.ts'
import { rewriting } from '../faults/rewriting-driver.ts'
import { readable } from '../readable-scripts.ts'

/** The replacement in the script without the rule. */
interface Edit {
  readonly script: string
  readonly from: string
  readonly to: string
}

/** Those of the database and of the process, and those of scripts. */
export const RULES = [
  'ledger',
  'batch id',
  'settle',
  'snapshot',
  'closing',
  'ack of the sealed batch',
  'begin after the epoch',
  'load retry',
  'setting aside',
] as const
export type Rule = (typeof RULES)[number]

const EDITS: Partial<Record<Rule, Edit>> = {
  'ack of the sealed batch': {
    script: 'counters/ack',
    from: 'if partition.epoch ~= epoch or partition.seq ~= seq or partition.batch ~= batch then',
    to: 'if false then',
  },
  'begin after the epoch': {
    script: 'counters/begin',
    from: 'if partition.epoch ~= known or',
    to: 'if',
  },
  'load retry': {
    script: 'counters/load',
    from: 'if seq < acked then',
    to: 'if false then',
  },
  'setting aside': {
    script: 'counters/seal',
    from: 'fill_batch(keys, limit)\nend',
    to: `fill_batch(keys, limit)
  if redis.call('EXISTS', rest) == 1 then
    redis.call('RENAME', rest, pending)
    partition.pending_ms, partition.rest_ms = partition.rest_ms, 0
    save_partition(meta, partition)
  end
end`,
  },
}

/** The driver, whose scripts do without the rule if it is one of theirs. */
export function withoutRule(driver: Driver, rule: Rule | null): Driver {
  const edit = rule === null ? undefined : EDITS[rule]
  if (edit === undefined) return driver
  return rewriting(driver, (script) => {
    const { name } = script
    if (name !== edit.script) return script.source
    const { source } = readable(script)
    if (source.split(edit.from).length !== 2) throw new Error(`${name} does not say once: ${edit.from}`)
    return source.replace(edit.from, () => edit.to)
  })
}
