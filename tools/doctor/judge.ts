// Asks a server whether its user may run commands, without running them.

import { isReply, type Link, messageOf } from './link.ts'

export type Verdict = 'may' | 'may not' | 'unknown'

/** How the verdicts were found: with none, the server gives the user no way to ask. */
export type Way = 'script' | 'ACL DRYRUN' | 'ACL GETUSER' | null

export interface Judgement {
  readonly way: Way
  /** One for each example. */
  readonly verdicts: readonly Verdict[]
  /** Whether EVAL itself is refused. */
  readonly scriptsRefused: boolean
}

/** Since Redis 7.0 a script may ask for the rights of its caller, whatever these are. */
const ASK = `local verdicts = {}
for at, text in ipairs(ARGV) do
  local known, may = pcall(redis.acl_check_cmd, unpack(cjson.decode(text)))
  verdicts[at] = known and (may and 'may' or 'may not') or 'unknown'
end
return verdicts`

export async function judge(
  link: Link,
  user: string,
  examples: readonly (readonly string[])[],
): Promise<Judgement> {
  const scripted = await byScript(link, examples)
  if (scripted !== null && scripted.some((verdict) => verdict !== 'unknown')) {
    return { way: 'script', verdicts: scripted, scriptsRefused: false }
  }
  const scriptsRefused = scripted === null
  const tried = await byDryRun(link, user, examples)
  if (tried !== null) return { way: 'ACL DRYRUN', verdicts: tried, scriptsRefused }
  if (await mayAll(link, user)) {
    return { way: 'ACL GETUSER', verdicts: examples.map(() => 'may'), scriptsRefused }
  }
  return { way: null, verdicts: examples.map(() => 'unknown'), scriptsRefused }
}

/** Null where the user may not run EVAL. */
async function byScript(link: Link, examples: readonly (readonly string[])[]): Promise<Verdict[] | null> {
  try {
    const args = examples.map((example) => JSON.stringify(example))
    return (await link.call('EVAL', ASK, 0, ...args)) as Verdict[]
  } catch (error) {
    if (isReply(error) && messageOf(error).startsWith('NOPERM')) return null
    throw error
  }
}

/** Null where the server does not know it, or the user may not. */
async function byDryRun(
  link: Link,
  user: string,
  examples: readonly (readonly string[])[],
): Promise<Verdict[] | null> {
  const answers = await link.callAll(examples.map((example) => ['ACL', 'DRYRUN', user, ...example]))
  if (answers.every((answer) => answer instanceof Error)) return null
  return answers.map((answer) => (answer === 'OK' ? 'may' : answer instanceof Error ? 'unknown' : 'may not'))
}

/** For servers before 7.0: only a user without any limit is certain to have every right. */
async function mayAll(link: Link, user: string): Promise<boolean> {
  try {
    const answer = (await link.call('ACL', 'GETUSER', user)) as readonly unknown[]
    const flags = answer[answer.indexOf('flags') + 1]
    return (
      Array.isArray(flags) && ['allcommands', 'allkeys', 'allchannels'].every((flag) => flags.includes(flag))
    )
  } catch (error) {
    if (isReply(error)) return false
    throw error
  }
}

/** Null where the user may not ask who it is. */
export async function whoAmI(link: Link): Promise<string | null> {
  try {
    return String(await link.call('ACL', 'WHOAMI'))
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}
