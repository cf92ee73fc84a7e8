/**
 * The code of the warmer. It calls the alias as often as containers shall be warm, all calls at once, so that each finds
 * the others' containers taken; the app's runtime answers such a call when the app listens. The SDK is the platform's.
 */
export const WARMER_SOURCE = `const { InvokeCommand, LambdaClient } = require("@aws-sdk/client-lambda");
const client = new LambdaClient({ maxAttempts: 1 });
exports.handler = async ({ qualifier, count }) => {
  const call = () => client.send(new InvokeCommand({
    FunctionName: process.env.FUNCTION,
    Qualifier: qualifier,
    Payload: JSON.stringify({ tool: "warm" }),
  }));
  const calls = await Promise.allSettled(Array.from({ length: count }, call));
  const failed = calls.filter(({ status }) => status === "rejected");
  // Some may be throttled while visitors have the containers: nothing is cold then.
  if (failed.length === count) throw failed[0].reason;
  return { warm: count - failed.length };
};
`;
