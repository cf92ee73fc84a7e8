/** A package that only a bench compares with, and that nobody else should have to install. */
export async function rival<T>(name: string): Promise<T> {
  try {
    return (await import(name)) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new Error(`the rival is not installed: npm install --no-save ${name}`);
  }
}
