// `perilune doctor`: reads the arguments, runs the checks, prints the report.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { InvalidArgumentError } from '../../src/runtime/errors/errors.ts'
import { type Duration, toMs } from '../../src/runtime/values/duration.ts'
import { checkNamespace } from '../../src/runtime/values/keys.ts'
import { CommandError } from '../command/error.ts'
import { AddressError, parseAddress } from './address.ts'
import { CHECKS } from './checks/all.ts'
import { examine } from './examine.ts'
import type { TlsFiles } from './link.ts'
import { type Report, reportOf } from './report.ts'
import type { DoctorContract, DoctorOptions } from './server.ts'
import { show } from './show.ts'

export const HELP: string = `perilune doctor [URL] [options]

Tells whether Perilune will be safe and fast on a Redis or Valkey. It writes no key.

  URL                 default: REDIS_URL, else redis://127.0.0.1:6379
                      redis://user:password@host:6379/0, rediss:// for TLS
                      redis+sentinel://host:26379,host:26379/NAME
                      redis+cluster://host:6379,host:6379
  --ca FILE           PEM: the authority that signed the certificate of the server
  --cert FILE         PEM: a certificate for this client, with --key FILE
  --namespace NAME    of your program; default: perilune
  --structures LIST   those that you use, such as lock,queue; default: all
  --scan NUMBER       how many keys it may look at; default: 10000
  --timeout TIME      for each answer, such as 500ms or 5s; default: 5s
  --ignore LIST       checks that do not count, such as version,slow-log
  --json              the report as JSON
  --help              this

Exit code: 0 all is well, 1 warnings (or something essential is unknown), 2 failures or wrong usage.
Checks: ${CHECKS.map(({ id }) => id).join(', ')}.
`.replace(/^Checks: .*$/m, (line) => wrapped(line, 100))

function wrapped(line: string, width: number): string {
  let length = 0
  return line
    .split(' ')
    .map((word) => {
      length += word.length + 1
      if (length <= width) return word
      length = word.length + 1
      return `\n${word}`
    })
    .join(' ')
    .replaceAll(' \n', '\n')
}

interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Resolves to the exit code. Throws CommandError for wrong usage. `root` is the folder of the package. */
export async function doctor(
  args: readonly string[],
  root: string,
  output: Output = process.stdout,
): Promise<number> {
  const values = parsed(args)
  if (values.help) {
    output.write(HELP)
    return 0
  }
  const report = await diagnose(optionsOf(values, root), ignoredOf(values.ignore))
  const text = values.json
    ? JSON.stringify(report, null, 2)
    : show(report, output.columns ?? 100, hasColour(output))
  output.write(`${text}\n`)
  return report.exitCode
}

export function diagnose(options: DoctorOptions, ignored: ReadonlySet<string> = new Set()): Promise<Report> {
  return examine(options, (server, examined) => reportOf(server, examined, ignored))
}

/** https://no-color.org: any value that is not empty turns colours off. */
function hasColour({ isTTY }: Output): boolean {
  return isTTY === true && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb'
}

type Values = ReturnType<typeof parsed>

function parsed(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ca: { type: 'string' },
        cert: { type: 'string' },
        key: { type: 'string' },
        namespace: { type: 'string', default: 'perilune' },
        structures: { type: 'string' },
        scan: { type: 'string', default: '10000' },
        timeout: { type: 'string', default: '5s' },
        ignore: { type: 'string', default: '' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
    if (positionals.length > 1) throw new CommandError('perilune doctor takes one URL')
    return { ...values, url: positionals[0] }
  } catch (error) {
    throw error instanceof CommandError ? error : new CommandError((error as Error).message)
  }
}

function optionsOf(values: Values, root: string): DoctorOptions {
  const contract = JSON.parse(readFileSync(join(root, 'lua/contract.json'), 'utf8')) as DoctorContract
  const address = addressOf(values.url ?? (process.env['REDIS_URL'] || 'redis://127.0.0.1:6379'))
  const files = filesOf(values)
  if (!address.tls && Object.keys(files).length > 0) {
    throw new CommandError('--ca, --cert and --key are for rediss://')
  }
  if ((files.cert === undefined) !== (files.key === undefined)) {
    throw new CommandError('--cert and --key go together')
  }
  const access = {
    tls: address.tls ? files : null,
    username: address.username,
    password: address.password,
    db: address.db,
    timeoutMs: checked(() => toMs('timeout', values.timeout as Duration, { min: '100ms', max: '10m' })),
  }
  return {
    address,
    access,
    sentinelAccess: {
      ...access,
      username: address.sentinelUsername,
      password: address.sentinelPassword,
      db: 0,
    },
    namespace: checked(() => checkNamespace(values.namespace)),
    structures: structuresOf(values.structures, contract),
    scan: scanOf(values.scan),
    contract,
  }
}

function addressOf(url: string) {
  try {
    return parseAddress(url)
  } catch (error) {
    if (error instanceof AddressError) throw new CommandError(error.message)
    throw error
  }
}

function filesOf({ ca, cert, key }: Values): TlsFiles {
  const named = Object.entries({ ca, cert, key }).flatMap(([name, path]) =>
    path === undefined ? [] : [[name, textOf(path)] as const],
  )
  return Object.fromEntries(named)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CommandError(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** What the library itself refuses is wrong usage here; `--` makes its argument an option. */
function checked<Value>(check: () => Value): Value {
  try {
    return check()
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new CommandError(`--${error.message}`)
    throw error
  }
}

function structuresOf(text: string | undefined, { structures }: DoctorContract): string[] {
  const known = Object.keys(structures)
  if (text === undefined) return known
  const wanted = namesIn(text)
  const strange = wanted.find((each) => !known.includes(each))
  if (strange !== undefined || wanted.length === 0) {
    throw new CommandError(`--structures must be some of ${known.join(', ')}`)
  }
  return wanted
}

function ignoredOf(text: string): ReadonlySet<string> {
  const ids = CHECKS.map(({ id }) => id)
  const strange = namesIn(text).find((each) => !ids.includes(each))
  if (strange !== undefined)
    throw new CommandError(`--ignore: there is no check ${strange}; the checks are ${ids.join(', ')}`)
  return new Set(namesIn(text))
}

function namesIn(text: string): string[] {
  return text.split(',').flatMap((each) => each.trim() || [])
}

function scanOf(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 1 && number <= 10_000_000) return number
  throw new CommandError('--scan must be a whole number from 1 to 10000000')
}
