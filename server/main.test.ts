// The program as a process: exit codes, output, signals.

import { type ChildProcess, exec, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { commandOf } from '../test/programs/fork.ts'
import { freePort } from '../test/servers/ports.ts'

let data: string
beforeAll(() => {
  data = mkdtempSync(join(tmpdir(), 'perilune-main-'))
})
afterAll(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }))

const main = new URL('main.ts', import.meta.url)

interface Program {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  readonly exit: Promise<number | null>
}

/** `output`: a descriptor for the whole output of the program. */
function run(environment: Record<string, string>, output: 'pipe' | number = 'pipe'): Program {
  const env = { ...process.env, NODE_ENV: '', PORT: '0', PERILUNE_DATA: data, ...environment }
  const child = spawn(process.execPath, commandOf(main), { env, stdio: ['ignore', output, output] })
  let [out, err] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const exit = once(child, 'close').then(() => child.exitCode)
  return { child, out: () => out, err: () => err, exit }
}

async function untilListening(program: Program): Promise<void> {
  while (!/claims'|"listening"/.test(program.out()) && program.child.exitCode === null) await sleep(20)
  expect(program.err()).toBe('')
}

/** For a service whose output the test does not read. */
async function untilServing(port: number): Promise<void> {
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(1000) }).then(
        ({ status }) => status,
        () => null,
      ),
    )
    .toBe(200)
}

/** Runs the curl command line as a shell reads it: a machine may have no curl. */
async function asCurl(line: string): Promise<string> {
  const { stdout } = await promisify(exec)(`curl() { printf '%s\\n' "$@"; }; ${line}`)
  const words = stdout.trimEnd().split('\n')
  const after = (flag: string): string[] => words.filter((_, at) => words[at - 1] === flag)
  const headers = Object.fromEntries(after('-H').map((header) => header.split(': ')))
  const [method = 'GET'] = after('-X')
  const body = after('-d').map((text) => ({ body: text }))[0]
  const answer = await fetch(words.find((word) => word.startsWith('http')) ?? '', {
    method,
    headers,
    ...body,
  })
  return `${answer.status} ${await answer.text()}`
}

function serverIsAlive(): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(join(data, 'redis.json'), 'utf8'))
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test('it prints where it is and its engine, its three lines do what they say, and Ctrl-C ends all of it with 0', async () => {
  const program = run({})
  await untilListening(program)
  expect(program.out()).toMatch(/Perilune listens on http:\/\/127\.0\.0\.1:\d+\nEngine: .+\nDurability: .+\n/)
  expect(serverIsAlive()).toBe(true)

  const lines = program.out().match(/^ {2}curl .*$/gm) ?? []
  const answers: string[] = []
  for (const line of lines) answers.push(await asCurl(line))
  expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['201', '200', '201'])
  for (const answer of answers.slice(1)) expect(answer).toContain('"body":{"text":"hello"}')

  // npm repeats the signal that the terminal has sent already.
  while (program.child.exitCode === null && program.child.kill('SIGINT')) await sleep(5)
  expect(await program.exit).toBe(0)
  expect(serverIsAlive()).toBe(false)
})

test('in production every line of the output is JSON, one per request, without bodies or headers', async () => {
  const program = run({ NODE_ENV: 'production', REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}` })
  await untilListening(program)
  const url = /http:\/\/[\d.:]+/.exec(program.out())?.[0] ?? ''
  const before = program.out().split('\n').length
  const headers = { 'Client-ID': '3381af92-2b9e-11e3-b191-71861300734c', 'X-Project-ID': 'log-test' }
  await fetch(`${url}/v2/queues?name=a`, { headers })
  program.child.kill('SIGTERM')

  expect(await program.exit).toBe(0)
  const lines = program
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.slice(before - 1)).toMatchObject([
    { method: 'GET', path: '/v2/queues', status: 200, level: 30 },
  ])
  expect(program.out()).not.toMatch(/3381af92|log-test/)
})

test('a service that cannot start reports it in one line and exits with 1', async () => {
  const refused = [{ PORT: '99999' }, { REDIS_URL: 'redis://:s3cr3t@127.0.0.1:1' }]
  for (const environment of refused) {
    const program = run(environment)
    expect(await program.exit).toBe(1)
    expect(program.err()).toMatch(/^perilune cannot start: [^\n]+\n$/)
    expect(program.err() + program.out()).not.toContain('s3cr3t')
  }
})

test('a stop signal during the start takes effect once it has started', async () => {
  const program = run({})
  while (!serverIsAlive() && program.child.exitCode === null) await sleep(5)
  program.child.kill('SIGTERM')

  expect(await program.exit).toBe(0)
  expect(serverIsAlive()).toBe(false)
})

test('a service whose output has lost its reader serves, and ends when it is stopped', async () => {
  const port = await freePort()
  const program = run({ PORT: String(port) })
  onTestFinished(() => void program.child.kill('SIGKILL'))
  program.child.stdout?.destroy()
  program.child.stderr?.destroy()

  await untilServing(port)
  program.child.kill('SIGTERM')

  expect(await Promise.race([program.exit, sleep(20_000, 'frozen')])).toBe(0)
})

const onLinux = test.skipIf(!existsSync('/dev/full'))

onLinux('a service whose log has no room on its disk serves, and ends when it is stopped', async () => {
  const port = await freePort()
  const full = openSync('/dev/full', 'w')
  const program = run({ PORT: String(port) }, full)
  onTestFinished(() => void program.child.kill('SIGKILL'))
  closeSync(full)

  for (let round = 0; round < 5; round += 1) await untilServing(port)
  program.child.kill('SIGTERM')

  expect(await Promise.race([program.exit, sleep(20_000, 'frozen')])).toBe(0)
})

test('a service whose output is not read for a while serves, and reports how many lines it dropped', async () => {
  const port = await freePort()
  const path = join(data, 'output')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const output = openSync(path, 'w')
  const program = run({ PORT: String(port), NODE_ENV: 'production' }, output)
  onTestFinished(() => void program.child.kill('SIGKILL'))
  closeSync(output)

  await untilServing(port)
  const url = `http://127.0.0.1:${port}/${'a'.repeat(15_000)}`
  for (let asked = 0; asked < 120; asked += 1) await (await fetch(url)).text()
  const lines = createInterface(new Socket({ fd: reader, readable: true }))
  let drops = ''
  lines.on('line', (line) => (drops ||= line.includes('dropped') ? line : ''))
  await expect.poll(() => drops).toMatch(/"level":40,.*"lines":\d+,"msg":"lines of the log were dropped/)
  program.child.kill('SIGTERM')

  expect(await Promise.race([program.exit, sleep(20_000, 'frozen')])).toBe(0)
})
