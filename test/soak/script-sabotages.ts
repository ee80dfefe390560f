// Breaks one rule of the scripts, to see that the soak finds out.

import { createHash } from 'node:crypto'
import type { Driver } from 'perilune'
import { readable } from '../readable-scripts.ts'
import type { Rule } from './fault.ts'

export interface ScriptSabotage {
  readonly what: string
  /** The scripts that have the rule, each once. */
  readonly scripts: RegExp
  readonly rule: string
  readonly instead: string
}

/** Each with the fault that it must lead to. */
export const scriptSabotages: readonly (ScriptSabotage & { found: Rule })[] = [
  {
    what: 'an append that is sent twice appends twice',
    scripts: /^feed\/append/,
    rule: 'if remembered then',
    instead: 'if false then',
    found: 'twice',
  },
  {
    what: 'a page leads its reader a little further than it showed',
    scripts: /^feed\/read$/,
    rule: 'return math.max(position, feed.last), shown, false',
    instead: 'return math.max(position, feed.last) + (shown > 0 and 300 or 0), shown, false',
    found: 'missed',
  },
  {
    what: 'claims lapse before their lease is over',
    scripts: /^feed\/claim$/,
    rule: 'lapse_claims(keys, feed, 1000)',
    instead: 'lapse_claims(keys, { now_ms = feed.now_ms + 80 }, 1000)',
    found: 'overlap',
  },
  {
    what: 'claims of the same moment share their token',
    scripts: /^feed\/claim$/,
    rule: 'feed.token = math.max(feed.token + 1, feed.now_us)',
    instead: 'feed.token = feed.now_us - feed.now_us % 100000',
    found: 'token',
  },
  {
    what: 'an ack is accepted whichever claim holds the message',
    scripts: /^feed\/ack$/,
    rule: 'if not is_live(keys, feed, token) then',
    instead: 'if false then',
    found: 'stale',
  },
  {
    what: 'what is acked stays in the feed',
    scripts: /^feed\/ack$/,
    rule: 'remove_entries(keys, feed, done)',
    instead: "redis.call('ZREM', claimed, done[1].place)",
    found: 'undone',
  },
]

/** A driver whose scripts have this rule replaced; throws when a script does not have it. */
export function breakScripts(driver: Driver, sabotage: ScriptSabotage): Driver {
  const run: Driver['run'] = (call) => driver.run({ ...call, script: broken(call.script, sabotage) })
  return {
    name: driver.name,
    run,
    runMany: (calls) => calls.map(run),
    read: (calls) => driver.read(calls),
    write: (call) => driver.write(call),
    load: (script) => driver.load(broken(script, sabotage)),
    subscribe: (channel, listener) => driver.subscribe(channel, listener),
    info: () => driver.info(),
    wait: (...args) => driver.wait(...args),
    healthy: () => driver.healthy(),
    close: () => driver.close(),
  }
}

type Script = Parameters<Driver['load']>[0]

function broken(shipped: Script, { scripts, rule, instead }: ScriptSabotage): Script {
  if (!scripts.test(shipped.name)) return shipped
  const script = readable(shipped)
  if (script.source.split(rule).length !== 2) throw new Error(`${script.name} has not one rule '${rule}'`)
  const source = script.source.replace(rule, () => instead)
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}
