// Runs programs of the docs as their readers do: as processes of their own.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { commandOf } from '../programs/fork.ts'

export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url))

export interface Program {
  /** Resolves once this is on its standard output. Throws when the program ends before. */
  prints(text: string | RegExp): Promise<string>
  write(line: string): void
  /** Ends its standard input. */
  leave(): void
  interrupt(): void
  /** Its exit code, standard output and errors, once it has ended. */
  ended(): Promise<{ code: number | null; out: string; errors: string }>
}

type Environment = Readonly<Record<string, string>>

/** Starts an example: its path in the project, and what it is given. */
export function startProgram(
  [path, ...args]: readonly [path: string, ...args: string[]],
  redisUrl: string,
  environment?: Environment,
): Program {
  const command = commandOf(pathToFileURL(join(ROOT, path)))
  return startNode([...command, ...args], redisUrl, environment)
}

/** Starts `node` with these arguments. */
export function startNode(args: readonly string[], redisUrl: string, environment: Environment = {}): Program {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...environment, REDIS_URL: redisUrl },
  })
  const output = collect(child)
  const closed = once(child, 'close')
  return {
    prints: (text) => waitFor(child, output, text),
    write: (line) => child.stdin.write(`${line}\n`),
    leave: () => child.stdin.end(),
    interrupt: () => child.kill('SIGINT'),
    ended: async () => {
      await closed
      return { code: child.exitCode, ...output }
    },
  }
}

interface Output {
  out: string
  errors: string
}

function collect(child: ChildProcessWithoutNullStreams): Output {
  const output: Output = { out: '', errors: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.errors += text))
  return output
}

function waitFor(
  child: ChildProcessWithoutNullStreams,
  output: Output,
  text: string | RegExp,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const found = typeof text === 'string' ? output.out.includes(text) : text.test(output.out)
      if (found) resolve(output.out)
    }
    child.stdout.on('data', look)
    child.once('close', () =>
      reject(new Error(`it ended before it printed ${text}: ${output.out}${output.errors}`)),
    )
    look()
  })
}
