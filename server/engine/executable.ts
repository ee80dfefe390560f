import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The path of the first of these programs that is on `PATH`, or undefined. */
export function findExecutable(names: readonly string[], path: string | undefined): string | undefined {
  const directories = (path ?? '').split(delimiter).filter(Boolean)
  return names.flatMap((name) => directories.map((directory) => join(directory, name))).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
