// Runs a program and all that it starts within a limit of time. Only what was started here is ever stopped.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

export interface Ended {
  readonly code: number
  /** All that it wrote. */
  readonly output: string
  /** It was stopped because its time was over. */
  readonly overTime: boolean
}

const running = new Set<number>()

/** Runs a program of Node without input, in the root of a copy. */
export async function runNode(
  args: readonly string[],
  root: string,
  limitMs: number,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const folder = folderIn(root)
  const output = openSync(join(folder, 'output'), 'w')
  try {
    // A group of its own, so that the limit stops its children too.
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ['ignore', output, output],
      detached: true,
      env,
    })
    const pid = child.pid ?? 0
    running.add(pid)
    let overTime = false
    const limit = setTimeout(() => {
      overTime = true
      killGroup(pid)
    }, limitMs)
    const [code]: unknown[] = await once(child, 'close')
    clearTimeout(limit)
    running.delete(pid)
    return { code: Number(code ?? 1), output: readFileSync(join(folder, 'output'), 'utf8'), overTime }
  } finally {
    closeSync(output)
    rmSync(folder, { recursive: true })
  }
}

/** A new folder for what a run says, in a place that no test looks at and that goes with the copy. */
export function folderIn(root: string): string {
  mkdirSync(join(root, '.perilune'), { recursive: true })
  return mkdtempSync(join(root, '.perilune', 'mutate-'))
}

/** Stops what still runs. */
export function stopAll(): void {
  for (const pid of running) killGroup(pid)
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
