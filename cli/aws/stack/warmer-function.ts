/**
 * The code of the warmer. It invokes the alias as often as there should be warm containers, all at once. The app's runtime
 * responds when the app listens, and not before the other calls have their containers: a container that is free again would
 * take a second call. The SDK is the one of the managed runtime.
 */
export const WARMER_SOURCE = `const { InvokeCommand, LambdaClient } = require("@aws-sdk/client-lambda");
const client = new LambdaClient({ maxAttempts: 1 });
exports.handler = async ({ qualifier, count }) => {
  const call = () => client.send(new InvokeCommand({
    FunctionName: process.env.FUNCTION,
    Qualifier: qualifier,
    Payload: JSON.stringify({ tool: "warm", hold_ms: 500 }),
  }));
  const calls = await Promise.allSettled(Array.from({ length: count }, call));
  const failed = calls.filter(({ status }) => status === "rejected");
  // Some may be throttled while visitors have the containers: nothing is cold then.
  if (failed.length === count) throw failed[0].reason;
  return { warm: count - failed.length };
};
`;
