import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { Output } from './output.ts'

const CAPACITY = 65_536

interface Pipe {
  readonly output: Output
  /** With an empty line. */
  fill(): void
  /** The whole present content. */
  read(): string
  /** Later writes fail with EPIPE. */
  leave(): void
  comeBack(): void
}

function pipe(mostBytes: number): Pipe {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-output-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const open = (): number => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let reader = open()
  const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  onTestFinished(() => {
    closeSync(writer)
    closeSync(reader)
    rmSync(folder, { recursive: true })
  })
  return {
    output: new Output(writer, { mostBytes, dropped: (lines) => `${lines} dropped` }),
    fill: () => void writeSync(writer, `${' '.repeat(CAPACITY - 1)}\n`),
    read: () => readAll(reader),
    leave: () => closeSync(reader),
    comeBack: () => void (reader = open()),
  }
}

function readAll(reader: number): string {
  const piece = Buffer.alloc(CAPACITY)
  let text = ''
  try {
    for (let bytes = -1; bytes !== 0; text += piece.toString('utf8', 0, bytes))
      bytes = readSync(reader, piece)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
  }
  return text
}

async function readUntil({ read }: Pipe, end: string): Promise<string[]> {
  let text = ''
  while (!text.endsWith(end)) {
    text += read()
    await sleep(5)
  }
  return text.slice(0, -1).split('\n')
}

const lineOf = (number: number): string => `${String(number).padStart(99, '0')}\n`
const numbersOf = (lines: readonly string[]): number[] => lines.map(Number)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

test('lines that a reader takes late arrive complete and in order', async () => {
  const through = pipe(1_000_000)
  for (let at = 0; at < 5000; at += 1) through.output.write(lineOf(at))
  await sleep(50)

  expect(numbersOf(await readUntil(through, lineOf(4999)))).toEqual(upTo(5000))
})

test('lines beyond the bound are dropped, and their number is reported in their place', async () => {
  const through = pipe(10_000)
  through.fill()
  for (let at = 0; at < 250; at += 1) through.output.write(lineOf(at))

  const lines = await readUntil(through, 'dropped\n')
  expect(numbersOf(lines.slice(1, -1))).toEqual(upTo(100))
  expect(lines.at(-1)).toBe('150 dropped')

  through.output.write('next\n')
  expect(await readUntil(through, 'next\n')).toEqual(['next'])
})

test('lines that could not be written are written once they can be, and the dropped ones are reported', async () => {
  const through = pipe(1000)
  through.leave()
  for (let at = 0; at < 25; at += 1) through.output.write(lineOf(at))
  await sleep(50)
  through.output.write(lineOf(25))
  through.comeBack()

  const lines = await readUntil(through, 'dropped\n')
  expect(numbersOf(lines.slice(0, -1))).toEqual(upTo(10))
  expect(lines.at(-1)).toBe('16 dropped')
})

test('closing does not wait for a reader who has left', async () => {
  const through = pipe(1000)
  through.leave()
  through.output.write('for no reader\n')

  await through.output.close()
  through.comeBack()
})
