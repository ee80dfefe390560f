import { expect, test } from 'vitest'
import { setupMachine } from './machine.ts'

const INSTALL = 'npm install --include=dev --no-audit --no-fund --no-progress'

test('the first start installs, builds and runs the service in its own process', async () => {
  const machine = setupMachine()

  const { code, output, lastLine } = await machine.node('tools/start.mjs')

  expect(code).toBe(0)
  expect(machine.calls()).toEqual([INSTALL, 'tsdown library', 'tsdown service'])
  expect(lastLine).toMatch(/^service in process .*tools\/start\.mjs$/)
  expect(output.split('\n').slice(0, -2)).toEqual([
    'installing dependencies (a minute, the first time)',
    'building the library',
    'building the service',
  ])
})

test('a second start does nothing but run the service', async () => {
  const machine = setupMachine()
  await machine.node('tools/start.mjs')
  machine.calls()

  const { output } = await machine.node('tools/start.mjs')

  expect(machine.calls()).toEqual([])
  expect(output).toMatch(/^service in process [^\n]*\n$/)
})

test.each([
  ['a source of the library', 'src/index.ts', ['tsdown library']],
  ['a source of the service', 'server/main.ts', ['tsdown service']],
])('when %s has changed, only that is built', async (_, file, calls) => {
  const machine = setupMachine()
  await machine.node('tools/start.mjs')
  machine.calls()

  machine.write(`project/${file}`, '2')
  await machine.node('tools/start.mjs')

  expect(machine.calls()).toEqual(calls)
})

test('when the lock file has changed, dependencies are installed again', async () => {
  const machine = setupMachine()
  await machine.node('tools/start.mjs')
  machine.calls()

  machine.write('project/package-lock.json', '{ "changed": true }')
  await machine.node('tools/start.mjs')

  expect(machine.calls()).toContain(INSTALL)
})

test('a failed installation shows the output of npm, and is tried again the next time', async () => {
  const machine = setupMachine()
  machine.program('npm', 'echo "npm: no network" >&2; exit 7')

  const first = await machine.node('tools/start.mjs')
  const second = await machine.node('tools/start.mjs')

  for (const { code, output } of [first, second]) {
    expect(code).toBe(1)
    expect(output).toContain('npm: no network')
    expect(output).not.toContain('    at ')
  }
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s during the installation ends that too', async (signal) => {
  const machine = setupMachine()
  // Its pid; it runs until it is ended.
  machine.program(
    'npm',
    `echo $$ >>"\${0%/*}/../calls"; exec "${process.execPath}" -e 'setInterval(() => undefined, 1000)'`,
  )

  const { code, output } = await machine.nodeUntilCalled(signal, 'tools/start.mjs')

  expect(code).toBe(1)
  expect(output).toContain('installing failed')
  const [pid = ''] = machine.calls()
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
})

const [MAJOR, MINOR] = process.versions.node.split('.').map(Number) as [number, number]

test.each([
  ['that is too old', '>=99.1'],
  ['that is too old for its major version', `^${MAJOR}.${MINOR + 1} || >=${MAJOR + 1}.0`],
  ['of a major version that is left out', `^${MAJOR - 1}.0 || >=${MAJOR + 1}.0`],
])('a Node.js %s is one line', async (_, range) => {
  const machine = setupMachine()
  machine.write('project/package.json', JSON.stringify({ type: 'module', engines: { node: range } }))

  const { code, output } = await machine.node('tools/start.mjs')

  expect(code).toBe(1)
  expect(output).toBe(
    `perilune needs Node.js ${range}, this is ${process.versions.node} (https://nodejs.org)\n`,
  )
})

test.each([`^${MAJOR}.${MINOR} || >=99.0`, `^${MAJOR - 1}.0 || >=${MAJOR}.${MINOR}`, `>=${MAJOR - 1}.99`])(
  'a Node.js that is in %s starts',
  async (range) => {
    const machine = setupMachine()
    machine.write('project/package.json', JSON.stringify({ type: 'module', engines: { node: range } }))

    expect(await machine.node('tools/start.mjs')).toMatchObject({ code: 0 })
  },
)
