// Breaks one rule of the scripts of the queue, to see that the soak finds out.

import type { ScriptSabotage } from '../script-sabotages.ts'
import type { QueueRule } from './fault.ts'

/** Each with the fault that it must lead to. */
export const queueSabotages: readonly (ScriptSabotage & { readonly found: QueueRule })[] = [
  {
    what: 'an ack is accepted whichever attempt holds the job',
    scripts: /^queue\/ack-and-claim$/,
    rule: 'why_not(run, tonumber(acks[at + 1]))',
    instead: 'why_not(run, run and run.token)',
    found: 'stale',
  },
  {
    what: 'a job whose worker was lost is given out as if it had never begun',
    scripts: /^queue\/ack-and-claim$/,
    rule: 'store_run(keys.jobs, seq, run, state, queue.now_ms)',
    instead: 'run.attempts = run.attempts - 1 store_run(keys.jobs, seq, run, state, queue.now_ms)',
    found: 'attempts',
  },
  {
    what: 'jobs are taken back before their leases are over',
    scripts: /^queue\/ack-and-claim$/,
    rule: "redis.call('ZRANGEBYSCORE', keys.leases, '-inf', queue.now_ms, 'LIMIT', '0', most)",
    instead: "redis.call('ZRANGEBYSCORE', keys.leases, '-inf', queue.now_ms + 900, 'LIMIT', '0', most)",
    found: 'overlap',
  },
  {
    what: 'a job whose worker was lost is taken for done',
    scripts: /^queue\/ack-and-claim$/,
    rule: 'if run.attempts >= job.max_attempts then',
    instead:
      'if true then erase_job(keys, queue, seq, job, run) queue.acked = queue.acked + 1 elseif false then',
    found: 'lost',
  },
  {
    what: 'a job of a group that ends makes room for two',
    scripts: /^queue\/ack-and-claim$/,
    rule: 'math.max(0, group.claimed - 1)',
    instead: 'math.max(0, group.claimed - 2)',
    found: 'limit',
  },
]
