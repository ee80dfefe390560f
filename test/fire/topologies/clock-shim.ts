// A wall clock for one server, when the machine has a compiler and supports LD_PRELOAD.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface OwnClock {
  /** The environment to start the server with. */
  readonly env: Readonly<Record<string, string>>
  set(secondsAhead: number): void
  remove(): void
}

/** Null: it cannot be made here. */
export function ownClock(): OwnClock | null {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-clock-'))
  const remove = (): void => rmSync(folder, { recursive: true })
  const [shim, file] = [join(folder, 'shim.so'), join(folder, 'ahead')]
  if (!compile(shim)) {
    remove()
    return null
  }
  writeFileSync(file, bytesOf(0))
  return {
    env: { LD_PRELOAD: shim, CLOCK_AHEAD_FILE: file },
    set: (secondsAhead) => overwrite(file, bytesOf(secondsAhead)),
    remove,
  }
}

function compile(shim: string): boolean {
  const source = fileURLToPath(new URL('clock-shim.c', import.meta.url))
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', shim, source], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Written in place: the server has it mapped. */
function overwrite(file: string, bytes: Buffer): void {
  const open = openSync(file, 'r+')
  writeSync(open, bytes, 0, bytes.length, 0)
  closeSync(open)
}

function bytesOf(seconds: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(seconds))
  return bytes
}
